// POST /v1/completions: request, response and stream chunk.

import { Timings, Usage, origin } from "./chat.ts";
import { lora } from "./lora.ts";
import { modelName } from "./model.ts";
import { Counts, PromptProgress, runningFields, streamOptions } from "./running.ts";
import { cachePrompt, idSlot, outputLimit, predictMs, samplingFields, stop } from "./sampling.ts";
import { opt, t, type Static } from "./schema.ts";
import { structuredFields } from "./structured.ts";
import { TokenIds } from "./token-ids.ts";

/** Most answers that one request may ask for, for all its prompts together. */
export const MOST_ANSWERS = 256;

export const CompletionRequest = t.Object({
  model: modelName,
  prompt: t.Union(
    [
      t.String({ minLength: 1 }),
      t.Array(t.String({ minLength: 1 }), { minItems: 1, maxItems: 64 }),
      TokenIds,
      t.Array(TokenIds, { minItems: 1, maxItems: 64 }),
    ],
    { description: "Text, token ids, or several of either: one answer for each." },
  ),
  suffix: opt(t.String({ description: "The text after the gap; needs a model with tokens for filling gaps." })),
  max_tokens: opt(outputLimit("-1 is without limit; 0 only with echo: the prompt comes back alone.")),
  n_predict: opt(outputLimit("Used when max_tokens is absent.")),
  ...samplingFields,
  lora,
  stop,
  t_max_predict_ms: predictMs,
  cache_prompt: cachePrompt,
  id_slot: idSlot,
  n: opt(
    t.Integer({
      minimum: 1,
      maximum: 128,
      description: `Answers to each prompt; all prompts together may have at most ${MOST_ANSWERS}.`,
    }),
  ),
  best_of: opt(
    t.Integer({ minimum: 1, maximum: 128, description: "Answers made, of which the likeliest n are given." }),
  ),
  echo: opt(
    t.Boolean({
      description: "The prompt's text comes before the answer, with logprobs its tokens before those of the answer.",
    }),
  ),
  logprobs: opt(t.Integer({ minimum: 0, maximum: 20 })),
  n_probs: opt(
    t.Integer({
      minimum: 0,
      maximum: 20,
      description: "Used when logprobs is absent; 0 is without log probabilities.",
    }),
  ),
  ...structuredFields,
  stream: opt(t.Boolean()),
  stream_options: streamOptions("Default false."),
  ...runningFields,
  user: opt(t.String()),
});

const FinishReason = t.Union([t.Literal("stop"), t.Literal("length"), t.Literal("cancelled"), t.Literal("error")]);

export const CompletionLogprobs = t.Object({
  tokens: t.Array(t.String()),
  token_logprobs: t.Array(
    t.Union([t.Number(), t.Null()], { description: "Null: the first token of an echoed prompt." }),
  ),
  top_logprobs: t.Array(t.Union([t.Record(t.String(), t.Number()), t.Null()])),
  text_offset: t.Array(t.Integer({ description: "Characters of the answer before the token." })),
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
      logprobs: t.Union([CompletionLogprobs, t.Null()]),
      finish_reason: t.Union([FinishReason, t.Null()]),
    }),
  ),
  usage: t.Optional(t.Union([Usage, Counts])),
  timings: t.Optional(Timings),
  prompt_progress: t.Optional(PromptProgress),
});

export type CompletionRequest = Static<typeof CompletionRequest>;
export type Completion = Static<typeof Completion>;
export type CompletionLogprobs = Static<typeof CompletionLogprobs>;
