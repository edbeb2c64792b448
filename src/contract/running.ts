// Whether an answer is streamed, and what streams can report before it is complete: fields of requests and of chunks.

import { opt, optFlag, t } from "./schema.ts";

const CONTINUOUS = "Whether each chunk has the three token counts so far; only used with include_usage. Default false.";

export const stream = optFlag(
  "true: the answer is sent as server-sent events while it is generated; with --no-streaming it is sent whole. Default false.",
);

/** Returns the schema of `stream_options`; `description` is for include_usage. */
export const streamOptions = (description: string) =>
  opt(
    t.Object({
      include_usage: opt(t.Boolean({ description })),
      continuous_usage_stats: optFlag(CONTINUOUS),
    }),
  );

/** llama.cpp's fields for the same purpose. */
export const runningFields = {
  timings_per_token: optFlag("Whether each chunk of a stream has the timings so far; default false."),
  return_progress: optFlag(
    "Whether a stream reports how much of the prompt is computed, in chunks with prompt_progress; default false.",
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
