// Answers of svc-mini itself: generated under a grammar and parsed by ParsedAnswer.

import type { ChatPrompt } from "../../../ffi/llama/api.ts";
import type { NativeLlama } from "../../../ffi/llama/binding.ts";
import { chat, decode, prefill, prompt, clear } from "../harness.ts";
import { add, answerOf, type Told } from "./robustness.ts";

/** Parameters that a grammar can hardly express or not at all; the rest of the schema is still enforced. */
export const HARD_PARAMETERS: Readonly<Record<string, object>> = {
  "a pattern that looks ahead": { properties: { a: { type: "string", pattern: "^(?=.*x)[a-z]+$" } } },
  "a pattern with a reference": { properties: { a: { type: "string", pattern: "^(a+)\\1$" } } },
  not: { properties: { a: { not: { type: "string" } } } },
  "if, then": JSON.parse(
    `{"properties": {"a": {"type": "integer"}}, "if": {"required": ["a"]}, "then": {"maxProperties": 1}}`,
  ),
  patternProperties: { patternProperties: { "^x": { type: "integer" } }, additionalProperties: false },
  "uniqueItems, contains": { properties: { a: { type: "array", uniqueItems: true, contains: { const: 1 } } } },
  multipleOf: { properties: { a: { type: "number", multipleOf: 0.5 } } },
  "formats unknown": { properties: { a: { type: "string", format: "color" } } },
  "no types": { properties: { a: {} } },
};

const point = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] };
const node = {
  type: "object",
  properties: { v: { type: "integer" }, kids: { type: "array", maxItems: 1, items: { $ref: "#/$defs/node" } } },
  required: ["v"],
};

/** Parameters, and a check whether arguments follow them. */
export const CHECKED_PARAMETERS: Readonly<Record<string, readonly [object, (value: never) => boolean]>> = {
  "none at all": [{ properties: {}, additionalProperties: false }, (given: object) => Object.keys(given).length === 0],
  "$ref and $defs": [
    { properties: { at: { $ref: "#/$defs/point" } }, $defs: { point }, required: ["at"] },
    ({ at }: { at: { x: unknown } }) => Number.isInteger(at.x),
  ],
  recursion: [
    { properties: { tree: { $ref: "#/$defs/node" } }, $defs: { node }, required: ["tree"] },
    ({ tree }: { tree: { v: unknown } }) => Number.isInteger(tree.v),
  ],
  "nullable unions": [
    {
      properties: { a: { type: ["string", "null"] }, b: { anyOf: [{ type: "integer" }, { type: "null" }] } },
      required: ["a", "b"],
    },
    ({ a, b }: { a: unknown; b: unknown }) =>
      (a === null || typeof a === "string") && (b === null || Number.isInteger(b)),
  ],
  "every type": [
    {
      properties: {
        count: { type: "integer", minimum: -5, maximum: 100 },
        on: { type: "boolean" },
        kind: { enum: ["red", "green"] },
        list: { type: "array", minItems: 1, maxItems: 2, items: { type: "integer" } },
        nothing: { type: "null" },
      },
      required: ["count", "on", "kind", "list", "nothing"],
    },
    (value: { count: unknown; on: unknown; kind: string; list: unknown[]; nothing: unknown }) =>
      Number.isInteger(value.count) &&
      typeof value.on === "boolean" &&
      ["red", "green"].includes(value.kind) &&
      value.list.length >= 1 &&
      value.list.every(Number.isInteger) &&
      value.nothing === null,
  ],
};

/** 60 tools with more than 100 KB of schema. */
export const MANY_TOOLS = Array.from({ length: 60 }, (_, index) => {
  const nested = { type: "object", properties: { a: { type: "integer" }, b: { enum: ["x", "y"] } }, required: ["a"] };
  const field = (key: number) => [
    `field_${key}`,
    {
      ...[nested, { type: "string" }, { type: "boolean" }][key % 3],
      description: "What this field is about. ".repeat(4),
    },
  ];
  const properties = Object.fromEntries(Array.from({ length: 12 }, (__, key) => field(key)));
  const parameters = { type: "object", properties, required: ["field_0", "field_1"] };
  return { type: "function", function: { name: `tool_${index}`, description: "Does something.", parameters } };
});

/** Returns a request that must call one tool with these parameters. */
export const forcedCall = (parameters: object): ChatPrompt =>
  chat([{ role: "user", content: "Use the tool." }], {
    tools: [
      {
        type: "function",
        function: { name: "t", description: "A tool.", parameters: { type: "object", ...parameters } },
      },
    ],
    toolChoice: "required",
    parallelToolCalls: false,
  });

/** Generates the answer to a request, up to `limit` tokens. */
export function generateAnswer(llama: NativeLlama, request: ChatPrompt, limit: number): Told {
  const result = prompt(llama, request);
  const { tokens, sampler, format } = result;
  if (sampler === undefined) throw new Error("no sampler was made");
  const answer = answerOf(llama, request, result);
  const told: Told = { reasoning: "", content: "", calls: [] };
  clear(llama);
  let ended = false;
  let rows = prefill(tokens, 0, sampler);
  for (let count = 0; count < limit && !ended; count++) {
    const sampled = decode(llama, rows);
    const token = typeof sampled === "string" ? -1 : (sampled[0] ?? -1);
    ended = llama.isEnd(token);
    if (!ended) add(told, answer.push(llama.piece(token, format.preserved.includes(token)), false));
    ended ||= llama.isStuck(sampler);
    rows = [{ token, position: tokens.length + count, sequence: 0, sampler }];
  }
  add(told, answer.end(ended));
  llama.freeSampler(sampler);
  return told;
}
