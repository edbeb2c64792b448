import { expect, test } from "bun:test";
import { encodeTimings, encodeUsage } from "../../src/dialect/fields/usage.ts";
import type { Usage } from "../../src/domain/usage.ts";

const nothing: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  queueMs: 0,
  promptMs: 0,
  completionMs: 0,
  peakMemoryBytes: 0,
};

test("rates cover only computed tokens: no cached prompt tokens, and no first token in the decode rate", () => {
  const usage = {
    ...nothing,
    promptTokens: 100,
    cachedTokens: 60,
    completionTokens: 11,
    promptMs: 200,
    completionMs: 500,
  };
  expect(encodeUsage(usage)).toMatchObject({
    prompt_tokens: 100,
    completion_tokens: 11,
    total_tokens: 111,
    prompt_tokens_details: { cached_tokens: 60 },
    prompt_time: 0.2,
    completion_time: 0.5,
    total_time: 0.7,
    prompt_tokens_per_second: 200,
    completion_tokens_per_second: 20,
  });
  expect(encodeTimings(usage)).toEqual({
    cache_n: 60,
    prompt_n: 40,
    prompt_ms: 200,
    prompt_per_token_ms: 5,
    prompt_per_second: 200,
    predicted_n: 11,
    predicted_ms: 500,
    predicted_per_token_ms: 50,
    predicted_per_second: 20,
  });
});

test("without measurements rates are zero, never NaN or Infinity", () => {
  for (const usage of [
    nothing,
    { ...nothing, completionTokens: 1 },
    { ...nothing, promptTokens: 5, cachedTokens: 5 },
  ]) {
    const numbers = [encodeUsage(usage), encodeTimings(usage)].flatMap((form) => Object.values(form));
    for (const value of numbers) if (typeof value === "number") expect(value).toBeFinite();
    expect(encodeUsage(usage).completion_tokens_per_second).toBe(0);
  }
});
