import { expect, test } from "bun:test";
import type { Sampling } from "../../src/domain/generate.ts";
import { traitsOf } from "../../src/gateway/server-kind.ts";
import { carrySampling } from "../../src/gateway/unsupported.ts";

test("a window of penalties is refused only when one of them may be on", () => {
  const carried = (sampling: Sampling) => carrySampling(sampling, "openai", traitsOf("openai"));
  const off = { repetitionPenalty: 1, presencePenalty: 0, frequencyPenalty: 0 };
  for (const repetitionWindow of [64, 0]) {
    expect(carried({ ...off, repetitionWindow })).toEqual({ presence_penalty: 0, frequency_penalty: 0 });
    // The server would apply it to other tokens.
    expect(() => carried({ ...off, presencePenalty: 0.5, repetitionWindow })).toThrow("'repeat_last_n'");
  }
});
