// What streams can report of an answer before it is over: fields of requests, and of chunks.

import { opt, t } from "./schema.ts";

const CONTINUOUS = "Each chunk has the usage until then: the three counts. Used where include_usage is true.";

/** `description`: of include_usage. */
export const streamOptions = (description: string) =>
  opt(
    t.Object({
      include_usage: opt(t.Boolean({ description })),
      continuous_usage_stats: opt(t.Boolean({ description: CONTINUOUS })),
    }),
  );

/** llama.cpp's. */
export const runningFields = {
  timings_per_token: opt(t.Boolean({ description: "Each chunk of a stream has the timings until then." })),
  return_progress: opt(
    t.Boolean({ description: "A stream reports how much of the prompt is computed, in chunks of prompt_progress." }),
  ),
};

/** How much of a prompt is computed, in tokens; `processed` includes those from the cache. */
export const PromptProgress = t.Object({
  total: t.Integer(),
  cache: t.Integer(),
  processed: t.Integer(),
  time_ms: t.Number(),
});

/** Of an answer that is not over. */
export const Counts = t.Object({
  prompt_tokens: t.Integer(),
  completion_tokens: t.Integer(),
  total_tokens: t.Integer(),
});
