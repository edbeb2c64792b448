// The instruction to answer with JSON, for requests whose JSON output is not enforced.

import type { ChatMessage, JsonSchema } from "./generate.ts";

/** Appends the instruction to the system message; adds a system message if there is none. No schema: no instruction. */
export function withInstruction(
  messages: readonly ChatMessage[],
  schema: JsonSchema | undefined,
): readonly ChatMessage[] {
  if (schema === undefined) return messages;
  const instruction = `Answer with one JSON value and nothing else. It must follow this JSON schema:\n${JSON.stringify(schema)}`;
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instruction }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${instruction}` }, ...rest];
}
