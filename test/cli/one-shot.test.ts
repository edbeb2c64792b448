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
  expect(asked({}).thinking).toBe(false);
});

test("--no-think wins over the template's values", () => {
  const { thinking, templateKwargs } = asked({
    think: false,
    templateKwargs: { enable_thinking: true, style: "short" },
  });
  expect([thinking, templateKwargs]).toEqual([false, { style: "short" }]);
});
