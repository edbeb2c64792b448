// Rewrites turns so that every chat template takes them. Agents send several turns of a role in a row and system turns
// anywhere; a third of the templates in use refuse, drop or move such turns. Some identify results by their position.

import { textOf, type ChatMessage, type ToolCall } from "./generate.ts";

type Content = ChatMessage["content"];

/**
 * Returns turns with at most one system turn, the first, and without consecutive user turns. Consecutive assistant
 * turns are one, which ends at calls. System turns before the first answer join the first one. Later ones stay in
 * place, as reminders in the turn they follow, so that the prompt of the next request begins with the prompt of this
 * one.
 */
export function joinTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  const begin = messages.findIndex(({ role }) => role === "assistant");
  const head = begin < 0 ? messages : messages.slice(0, begin);
  const system = head.filter(({ role }) => role === "system");
  const runs: Run[] = [];
  for (const message of head) if (message.role !== "system") addTurn(runs, message);
  for (const message of messages.slice(head.length)) addTurn(runs, message);
  const turns = runs.map(joinRun);
  if (system.length === 0) return turns;
  return [{ role: "system", content: joinContents(system.map(({ content }) => content)) }, ...turns];
}

/** Turns to join into one. A conversation may be a single very long run, so a run is joined once, at its end. */
type Run = [ChatMessage, ...ChatMessage[]];

function addTurn(runs: Run[], message: ChatMessage): void {
  const last = runs.at(-1);
  if (message.role === "system") {
    const content = `<system-reminder>\n${systemText(message.content)}\n</system-reminder>`;
    const turn = { role: "user", content } as const;
    if (last?.[0].role === "user" || last?.[0].role === "tool") last.push(turn);
    else runs.push([turn]);
    return;
  }
  const joins = message.role === "user" || (message.role === "assistant" && !last?.at(-1)?.toolCalls);
  if (joins && last?.[0].role === message.role) last.push(message);
  else runs.push([message]);
}

function joinRun(run: Run): ChatMessage {
  const [first] = run;
  const contents = run.map(({ content }) => content);
  if (first.role !== "assistant") return { ...first, content: joinContents(contents) };
  const reasoning = run.flatMap((turn) => turn.reasoning || []).join("\n");
  const toolCalls = run.at(-1)?.toolCalls;
  return {
    ...first,
    // A turn may be only reasoning or calls.
    content: joinContents(contents.filter((content) => content !== "")),
    ...(reasoning !== "" && { reasoning }),
    ...(toolCalls && { toolCalls }),
  };
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
const systemText = (content: Content): string => (typeof content === "string" ? content : textOf(content));

/** Returns whether the last message is a text of the assistant without calls: in some APIs, an assistant prefill. */
export function isPrefilled(messages: readonly ChatMessage[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.toolCalls) return false;
  return last.content !== "" || last.reasoning !== undefined;
}

/**
 * Puts results in the order of their calls, because templates without call ids identify results by position, and gives
 * each result the name of its tool. The calls may be spread over several turns in a row.
 */
export function withOrderedResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const ordered: ChatMessage[] = [];
  let calls: ToolCall[] = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as ChatMessage;
    ordered.push(message);
    if (messages[index - 1]?.role !== "assistant") calls = [];
    for (const call of message.toolCalls ?? []) calls.push(call);
    if (calls.length === 0 || messages[index + 1]?.role !== "tool") continue;
    let end = index + 1;
    while (messages[end]?.role === "tool") end++;
    const place = new Map(calls.map(({ id }, order) => [id, order]));
    const placeOf = ({ toolCallId }: ChatMessage) => place.get(toolCallId ?? "") ?? place.size;
    const results = messages.slice(index + 1, end).toSorted((a, b) => placeOf(a) - placeOf(b));
    for (const result of results) {
      const name = result.name ?? calls[placeOf(result)]?.name;
      ordered.push(name === undefined ? result : { ...result, name });
    }
    index = end - 1;
  }
  return ordered;
}
