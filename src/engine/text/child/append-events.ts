// Joins events that become ready together, so that the client receives as few as possible.

import { sampledFor } from "../../../domain/generate.ts";
import type { StepEvent } from "../protocol.ts";

/** Appends `more` to `events`; an event that continues the last one is joined to it. */
export function appendEvents(events: StepEvent[], more: readonly StepEvent[]): void {
  for (const event of more) {
    const last = events.at(-1);
    const joined = last && join(last, event);
    if (joined) events[events.length - 1] = joined;
    else events.push(event);
  }
}

/** Joins two events; text with log probabilities is not joined, because they belong to the text of their own event. */
function join(a: StepEvent, b: StepEvent): StepEvent | undefined {
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
