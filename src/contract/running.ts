// What streams can report about an answer before it is complete: fields of requests and of chunks.

import { opt, t } from "./schema.ts";

const CONTINUOUS = "Each chunk has the usage until then: the three counts. Used where include_usage is true.";

/** Returns the schema of `stream_options`; `description` is for include_usage. */
export const streamOptions = (description: string) =>
  opt(
    t.Object({
      include_usage: opt(t.Boolean({ description })),
      continuous_usage_stats: opt(t.Boolean({ description: CONTINUOUS })),
    }),
  );

/** llama.cpp's fields for the same purpose. */
export const runningFields = {
  timings_per_token: opt(t.Boolean({ description: "Each chunk of a stream has the timings until then." })),
  return_progress: opt(
    t.Boolean({ description: "A stream reports how much of the prompt is computed, in chunks of prompt_progress." }),
  ),
};

/** How many tokens of a prompt were processed; `processed` includes those from the cache. */
export const PromptProgress = t.Object({
  total: t.Integer(),
  cache: t.Integer(),
  processed: t.Integer(),
  time_ms: t.Number(),
});

/** Counts so far of an answer that is not complete. */
export const Counts = t.Object({
  prompt_tokens: t.Integer(),
  completion_tokens: t.Integer(),
  total_tokens: t.Integer(),
});
