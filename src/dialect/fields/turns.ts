// Turns as every chat template takes them. Agents send several turns of a user in a row and system turns anywhere; of the
// templates that are in use, a third refuse, drop or move such turns.

import type { ChatMessage } from "../../domain/generate.ts";

type Content = ChatMessage["content"];

/**
 * One system turn at most, the first one, and no two of a user in a row. System turns before the first answer join the
 * first one. Later ones stay where they are, as a reminder in the turn they follow, so that the prompt of a next request
 * begins with the prompt of this one.
 */
export function joinTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const begin = messages.findIndex(({ role }) => role === "assistant");
  const head = begin < 0 ? messages : messages.slice(0, begin);
  const system = head.filter(({ role }) => role === "system");
  const joined: ChatMessage[] = [];
  if (system.length > 0) {
    joined.push({ role: "system", content: system.map(({ content }) => content).reduce(joinContent) });
  }
  for (const message of messages.slice(0, head.length)) if (message.role !== "system") addTurn(joined, message);
  for (const message of messages.slice(head.length)) addTurn(joined, message);
  return joined;
}

function addTurn(turns: ChatMessage[], message: ChatMessage): void {
  const last = turns.at(-1);
  const reminder = message.role === "system";
  const content = reminder ? `<system-reminder>\n${textOf(message.content)}\n</system-reminder>` : message.content;
  const follows = last?.role === "user" || (reminder && last?.role === "tool");
  if (last && follows && (reminder || message.role === "user")) {
    turns[turns.length - 1] = { ...last, content: joinContent(last.content, content) };
  } else turns.push(reminder ? { role: "user", content } : message);
}

function joinContent(first: Content, second: Content): Content {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  return [...partsOf(first), ...partsOf(second)];
}

const partsOf = (content: Content) =>
  typeof content === "string" ? [{ type: "text" as const, text: content }] : content;

/** System turns have no media. */
const textOf = (content: Content): string =>
  partsOf(content)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n");
