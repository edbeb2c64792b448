// Encodes the counts and times of a generation in the two forms that clients read.

import type { ChatCounts, ChatTimings, ChatUsage } from "../../contract/chat.ts";
import { GIB } from "../../domain/gib.ts";
import type { Usage } from "../../domain/usage.ts";

export const rounded = (value: number, digits = 3): number => Number(value.toFixed(digits));

/** Returns tokens per second; 0 when nothing was measured. */
export const rate = (tokens: number, ms: number): number =>
  ms > 0 && tokens > 0 ? rounded((tokens * 1000) / ms, 2) : 0;

const each = (ms: number, tokens: number): number => (tokens > 0 ? rounded(ms / tokens) : 0);

/** Returns the tokens that decoding took time for. The first token ends the prompt's time, so it is not among them. */
export const decodeSteps = (usage: Usage): number => Math.max(usage.completionTokens - 1, 0);

export const computed = (usage: Usage): number => usage.promptTokens - usage.cachedTokens;

/** Encodes only the counts of OpenAI's API. */
export const encodeCounts = ({ promptTokens, completionTokens }: Usage): ChatCounts => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

/** Encodes the counts of OpenAI's API with times in seconds, rates and memory. */
export function encodeUsage(usage: Usage): ChatUsage {
  return {
    ...encodeCounts(usage),
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    prompt_time: rounded(usage.promptMs / 1000),
    completion_time: rounded(usage.completionMs / 1000),
    total_time: rounded((usage.promptMs + usage.completionMs) / 1000),
    prompt_tokens_per_second: rate(computed(usage), usage.promptMs),
    completion_tokens_per_second: rate(decodeSteps(usage), usage.completionMs),
    ...(usage.peakMemoryBytes > 0 && { peak_memory_gib: rounded(usage.peakMemoryBytes / GIB) }),
  };
}

/** Encodes timings in llama.cpp's layout, in milliseconds. */
export function encodeTimings(usage: Usage): ChatTimings {
  return {
    cache_n: usage.cachedTokens,
    prompt_n: computed(usage),
    prompt_ms: rounded(usage.promptMs),
    prompt_per_token_ms: each(usage.promptMs, computed(usage)),
    prompt_per_second: rate(computed(usage), usage.promptMs),
    predicted_n: usage.completionTokens,
    predicted_ms: rounded(usage.completionMs),
    predicted_per_token_ms: each(usage.completionMs, decodeSteps(usage)),
    predicted_per_second: rate(decodeSteps(usage), usage.completionMs),
  };
}

/** Returns the timings as a member of an object that is being written as text. */
export const timingsMember = (usage: Usage): string => `,"timings":${JSON.stringify(encodeTimings(usage))}`;
