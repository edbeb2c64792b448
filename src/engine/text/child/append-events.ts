// Events that become ready together reach the client as few as they can be.

import type { OutputEvent } from "../../../domain/generate.ts";

/** Appends `more` to `events`; what goes on where the last one ended becomes part of that. */
export function appendEvents(events: OutputEvent[], more: readonly OutputEvent[]): void {
  for (const event of more) {
    const last = events.at(-1);
    const joined = last && join(last, event);
    if (joined) events[events.length - 1] = joined;
    else events.push(event);
  }
}

/** Log probabilities belong to the text of their own event. */
function join(a: OutputEvent, b: OutputEvent): OutputEvent | undefined {
  if (a.type === "text" && b.type === "text" && !a.logprobs && !b.logprobs) return { ...a, text: a.text + b.text };
  if (a.type === "reasoning" && b.type === "reasoning") return { ...a, text: a.text + b.text };
  if (a.type === "tool_arguments" && b.type === "tool_arguments" && a.index === b.index)
    return { ...a, text: a.text + b.text };
  return undefined;
}
