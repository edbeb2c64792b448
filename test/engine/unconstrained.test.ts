// The engine of a server with --no-grammar-constraints.

import { expect, test } from "bun:test";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { plainRequest } from "../support/request.ts";
import { startEngine } from "./engine-rig.ts";

const schema = { type: "object" };
const loose = { strict: false, inexpressible: false };

test.each<[string, Partial<GenerateRequest>, string]>([
  ["a grammar", { constraint: { grammar: 'root ::= "a"', ...loose } }, "grammar"],
  ["a choice", { constraint: { grammar: 'root ::= "a"', choice: ["a"], ...loose } }, "grammar"],
  ["a schema beside a raw prompt", { prompt: "say a|", constraint: { schema, ...loose } }, "response_format"],
])("%s is refused, as the prompt does not state it", async (_, fields, param) => {
  const { engine, until, messages } = startEngine(undefined, { constrain: false });
  engine.submit(1, { type: "generate", request: plainRequest("say a|", fields) });
  await until(() => messages.length > 0);
  expect(messages[0]).toMatchObject({ type: "rejected", code: "unsupported_parameter", param });
});

test("a schema is not enforced, which is reported if it is strict", async () => {
  for (const constrain of [true, false]) {
    for (const strict of [true, false]) {
      const { engine, until, messages } = startEngine(undefined, { constrain });
      const constraint = { schema, strict, inexpressible: false };
      engine.submit(1, { type: "generate", request: plainRequest("say {}|", { constraint }) });
      await until(() => messages.length > 0);
      expect(messages[0]).toMatchObject({ type: "accepted", event: { downgraded: strict && !constrain } });
    }
  }
});

test("a fence around JSON that is not enforced is left out, and any other is text", async () => {
  for (const [constraint, expected] of [
    [{ constraint: { schema, ...loose } }, '{"a": 1}'],
    [{}, '```json\n{"a": 1}\n```'],
  ] as const) {
    const { engine, until, finished, text } = startEngine(undefined, { constrain: false });
    const request = plainRequest('say ```json\n{"a": 1}\n```|', constraint);
    engine.submit(1, { type: "generate", request });
    await until(() => finished(1) !== undefined);
    expect(text(1)).toBe(expected);
  }
});
