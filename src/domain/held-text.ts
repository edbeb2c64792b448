// How the text of several streams is held for a moment, so that one message brings several tokens.

import { sampledFor, type OutputEvent } from "./generate.ts";

/** From so many streams on, their text is held for up to `HELD_MS`: they get it sixty times a second, as screens refresh. */
export const MANY_STREAMS = 4;
export const HELD_MS = 16;

/** What a stream may hold; scores are never joined. */
type HeldEvent = OutputEvent | { readonly type: "scored" };

/** Appends `more` to `events`; an event that continues the last one is joined to it, so that the client receives few. */
export function appendEvents(events: HeldEvent[], more: readonly HeldEvent[]): void {
  for (const event of more) {
    const last = events.at(-1);
    const joined = last && join(last, event);
    if (joined) events[events.length - 1] = joined;
    else events.push(event);
  }
}

/** Joins two events; text with log probabilities is not joined, because they belong to the text of their own event. */
function join(a: HeldEvent, b: HeldEvent): OutputEvent | undefined {
  const sampled = sampledFor(a) + sampledFor(b);
  if (a.type === "text" && b.type === "text" && !a.logprobs && !b.logprobs) {
    const tokens = a.tokens || b.tokens ? { tokens: [...(a.tokens ?? []), ...(b.tokens ?? [])] } : {};
    return { ...a, text: a.text + b.text, ...tokens, sampled };
  }
  if (a.type === "reasoning" && b.type === "reasoning") return { ...a, text: a.text + b.text, sampled };
  if (a.type === "tool_arguments" && b.type === "tool_arguments" && a.index === b.index)
    return { ...a, text: a.text + b.text, sampled };
  return undefined;
}
