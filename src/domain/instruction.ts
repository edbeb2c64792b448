// Instructions that state in the prompt what is not enforced while sampling.

import type { ChatMessage, Generation, JsonSchema } from "./generate.ts";

/**
 * Appends to the system message what the answer must be: a tool call if one is required, else JSON that follows the
 * schema, if there is one. Adds a system message if there is none.
 */
export function withInstruction(
  messages: readonly ChatMessage[],
  schema: JsonSchema | undefined,
  toolChoice: Generation["toolChoice"],
): readonly ChatMessage[] {
  const instruction = toolChoice === "required" ? CALL : schema && jsonOf(schema);
  if (instruction === undefined) return messages;
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: instruction }, ...messages];
  const { content } = first;
  const isText = typeof content === "string";
  const extended = isText ? `${content}\n\n${instruction}` : [...content, { type: "text", text: instruction } as const];
  return [{ ...first, content: extended }, ...rest];
}

const CALL = "Answer with a call of a tool and nothing else.";

const jsonOf = (schema: JsonSchema): string =>
  `Answer with one JSON value and nothing else. It must follow this JSON schema:\n${JSON.stringify(schema)}`;
