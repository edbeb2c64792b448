// The state machine of a stream of Ollama's API: lines with `done: false`, then one with `done: true`.

import { strict as assert } from "node:assert";
import { OllamaAnswer } from "../../../src/contract/ollama.ts";
import { checker } from "../../../src/contract/schema.ts";
import type { Assembled } from "./events.ts";

export type OllamaBody = ReturnType<typeof checkLine>;

const checkLine = checker(OllamaAnswer);

/** Assembles a stream into its answer. Throws where the stream breaks a rule of its API. */
export function assembleOllama(text: string): Assembled<OllamaBody> {
  assert(text.endsWith("\n"), "every line is ended");
  const objects = text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as OllamaBody & { readonly error?: string });
  const last = objects.at(-1);
  if (last?.error !== undefined) return { error: { message: last.error } };
  const lines = objects.map(checkLine);
  const end = lines.at(-1) as OllamaBody;
  assert.deepEqual(
    lines.map(({ done }) => done),
    lines.map((line) => line === end),
    "the last line alone is done",
  );
  assert.equal(new Set(lines.map(({ model }) => model)).size, 1, "the model is constant");
  const tokens = lines.flatMap(({ logprobs }) => logprobs ?? []);
  const logprobs = tokens.length > 0 && { logprobs: tokens };
  if (end.response !== undefined) {
    const thinking = lines.map((line) => line.thinking ?? "").join("");
    const response = lines.map((line) => line.response ?? "").join("");
    return { body: { ...end, response, ...logprobs, ...(thinking !== "" && { thinking }) } };
  }
  const parts = lines.map(({ message }) => message);
  const thinking = parts.map((part) => part?.thinking ?? "").join("");
  const calls = parts.flatMap((part) => part?.tool_calls ?? []);
  const message = {
    role: "assistant" as const,
    content: parts.map((part) => part?.content ?? "").join(""),
    ...(thinking !== "" && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { body: { ...end, message, ...logprobs } };
}
