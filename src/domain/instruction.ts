// The instruction to answer with JSON where nothing enforces it.

import type { ChatMessage, JsonSchema } from "./generate.ts";

export const schemaInstruction = (schema: JsonSchema): string =>
  `Answer with one JSON value and nothing else. It must follow this JSON schema:\n${JSON.stringify(schema)}`;

/** Adds a sentence to the system message, or a system message. */
export function withInstruction(messages: readonly ChatMessage[], instruction: string): ChatMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instruction }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${instruction}` }, ...rest];
}
