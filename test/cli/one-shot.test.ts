import { expect, test } from "bun:test";
import { toRequest } from "../../src/cli/one-shot.ts";
import { testConfig } from "../http/harness.ts";

const asked = (changes: object) => toRequest({ ...testConfig, ...changes }, "Hi");

test("a one-shot answer thinks as the launch options say", () => {
  const templateKwargs = { enable_thinking: true, reasoning_effort: "high", style: "short" };
  expect(asked({ templateKwargs, reasoningBudget: 100 })).toMatchObject({
    thinking: true,
    reasoningBudget: 100,
    templateKwargs: { reasoning_effort: "high", style: "short" },
  });
  expect(asked({ templateKwargs })).not.toHaveProperty("reasoningBudget");
  expect(asked({})).not.toHaveProperty("thinking");
});

test("--no-think wins over the template's values", () => {
  const { thinking, templateKwargs } = asked({
    think: false,
    templateKwargs: { enable_thinking: true, style: "short" },
  });
  expect([thinking, templateKwargs]).toEqual([false, { style: "short" }]);
});

test("--guided-json holds a one-shot answer to the schema, and without constraints states it", () => {
  const guidedJson = { type: "object", properties: { city: { type: "string" } } };
  expect(asked({ guidedJson })).toMatchObject({ thinking: false, constraint: { schema: { type: "object" } } });
  const { messages } = asked({ guidedJson, constrain: false });
  expect(messages[0]?.role).toBe("system");
  expect(messages[0]?.content).toContain('"city"');
});
