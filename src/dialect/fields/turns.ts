// Rewrites turns so that every chat template takes them. Agents send several user turns in a row and system turns
// anywhere; a third of the templates in use refuse, drop or move such turns.

import type { ChatMessage } from "../../domain/generate.ts";

type Content = ChatMessage["content"];

/**
 * Returns turns with at most one system turn, the first, and without consecutive user turns. System turns before the
 * first answer join the first one. Later ones stay in place, as reminders in the turn they follow, so that the prompt
 * of the next request begins with the prompt of this one.
 */
export function joinTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const begin = messages.findIndex(({ role }) => role === "assistant");
  const head = begin < 0 ? messages : messages.slice(0, begin);
  const system = head.filter(({ role }) => role === "system");
  const runs: Run[] = [];
  for (const message of head) if (message.role !== "system") addTurn(runs, message);
  for (const message of messages.slice(head.length)) addTurn(runs, message);
  const turns = runs.map(({ first, contents }) => ({ ...first, content: joinContents(contents) }));
  if (system.length === 0) return turns;
  return [{ role: "system", content: joinContents(system.map(({ content }) => content)) }, ...turns];
}

/** Turns to join into one. A conversation may be a single very long run, so a run is joined once, at its end. */
interface Run {
  readonly first: ChatMessage;
  readonly contents: Content[];
}

function addTurn(runs: Run[], message: ChatMessage): void {
  const last = runs.at(-1);
  const reminder = message.role === "system";
  const content = reminder ? `<system-reminder>\n${textOf(message.content)}\n</system-reminder>` : message.content;
  const follows = last?.first.role === "user" || (reminder && last?.first.role === "tool");
  if (last && follows && (reminder || message.role === "user")) last.contents.push(content);
  else runs.push({ first: reminder ? { role: "user", content } : message, contents: [content] });
}

/** Joins contents. Consecutive texts become one text, also between media. */
function joinContents(contents: readonly Content[]): Content {
  const joined: Content[] = [];
  for (const content of contents) {
    const last = joined.at(-1);
    if (typeof last === "string" && typeof content === "string") joined[joined.length - 1] = `${last}\n\n${content}`;
    else joined.push(content);
  }
  const [only = ""] = joined;
  return joined.length > 1 ? joined.flatMap(partsOf) : only;
}

const partsOf = (content: Content) =>
  typeof content === "string" ? [{ type: "text" as const, text: content }] : content;

/** Returns the text of a system turn, which has no media. */
const textOf = (content: Content): string =>
  partsOf(content)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n");
