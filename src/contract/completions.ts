// POST /v1/completions: request, response and stream chunk.

import { Timings, Usage, origin, streamError } from "./chat.ts";
import { controlFields, user } from "./controls.ts";
import { Counts, PromptProgress, streamOptions } from "./running.ts";
import { outputLimit } from "./sampling.ts";
import { nullable, oneOf, opt, optFlag, optInteger, optText, t, type Static } from "./schema.ts";
import { TokenIds } from "./token-ids.ts";

/** Most answers of one request, for all its prompts together. */
export const MOST_ANSWERS = 256;
const MOST_PROMPTS = 64;

export const CompletionRequest = t.Object({
  prompt: t.Union(
    [
      t.String({ minLength: 1 }),
      t.Array(t.String({ minLength: 1 }), { minItems: 1, maxItems: MOST_PROMPTS }),
      TokenIds,
      t.Array(TokenIds, { minItems: 1, maxItems: MOST_PROMPTS }),
    ],
    { description: `A text, token ids, or up to ${MOST_PROMPTS} of either; each is answered.` },
  ),
  suffix: optText("The text after the gap; needs a model with tokens for filling gaps."),
  max_tokens: opt(
    outputLimit("Maximum output tokens; -1: no limit. 0 is only accepted with echo and returns the prompt alone."),
  ),
  n_predict: opt(outputLimit("Used when max_tokens is absent.")),
  ...controlFields,
  n: optInteger(
    { minimum: 1, maximum: 128 },
    `Number of answers to each prompt; at most ${MOST_ANSWERS} for all prompts together. Default 1.`,
  ),
  best_of: optInteger(
    { minimum: 1, maximum: 128 },
    "Number of answers to generate for each prompt, of which the n most probable are returned. Default: n.",
  ),
  echo: optFlag(
    "true: the prompt's text is put before the answer and, with logprobs, its tokens before those of the answer.",
  ),
  logprobs: opt(t.Integer({ minimum: 0, maximum: 20 })),
  n_probs: optInteger({ minimum: 0, maximum: 20 }, "Used when logprobs is absent; 0: no log probabilities."),
  stream_options: streamOptions("Whether the stream ends with a usage chunk; default false."),
  user,
});

const FinishReason = oneOf("stop", "length", "content_filter", "cancelled", "error");

export const CompletionLogprobs = t.Object({
  tokens: t.Array(t.String()),
  token_logprobs: t.Array(nullable(t.Number(), { description: "null for the first token of an echoed prompt." })),
  top_logprobs: t.Array(nullable(t.Record(t.String(), t.Number()))),
  text_offset: t.Array(t.Integer({ description: "Number of characters of the answer before the token." })),
});

/** A whole answer, or a chunk of a stream. */
export const Completion = t.Object({
  id: t.String(),
  object: t.Literal("text_completion"),
  ...origin,
  choices: t.Array(
    t.Object({
      text: t.String(),
      index: t.Integer(),
      logprobs: nullable(CompletionLogprobs),
      finish_reason: nullable(FinishReason),
    }),
  ),
  usage: t.Optional(t.Union([Usage, Counts])),
  timings: t.Optional(Timings),
  prompt_progress: t.Optional(PromptProgress),
  error: streamError,
});

export type CompletionRequest = Static<typeof CompletionRequest>;
export type Completion = Static<typeof Completion>;
export type CompletionLogprobs = Static<typeof CompletionLogprobs>;
