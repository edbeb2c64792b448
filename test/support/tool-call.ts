// The events of a tool call, as an engine sends them.

import type { OutputEvent } from "../../src/domain/generate.ts";

/** Returns the events of a call whose arguments arrive in these pieces. */
export function toolCall(name: string, pieces: readonly string[], index = 0, id = `call_${index + 1}`): OutputEvent[] {
  const texts = pieces.map((text) => ({ type: "tool_arguments" as const, index, text }));
  return [{ type: "tool_call", index, id, name }, ...texts];
}
