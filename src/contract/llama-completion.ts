// POST /completion and POST /infill: raw completions in llama.cpp's own form.

import { Timings } from "./chat.ts";
import { MOST_ANSWERS } from "./completions.ts";
import { controlFields } from "./controls.ts";
import { PromptProgress } from "./running.ts";
import { outputLimit } from "./sampling.ts";
import { JsonObject, opt, optInteger, optText, t, type Static } from "./schema.ts";
import { TokenId } from "./token-ids.ts";

const TextOrTokens = t.Array(t.Union([t.String(), TokenId]), { minItems: 1 });
const PromptObject = t.Object({ prompt_string: t.String(), multimodal_data: opt(t.Array(t.String())) });

/** Fields of both routes. */
const common = {
  ...controlFields,
  n_predict: opt(outputLimit("Maximum output tokens; -1: no limit, 0: compute only the prompt.")),
  max_tokens: opt(outputLimit("Used when n_predict is absent.")),
  n_cmpl: optInteger(
    { minimum: 1, maximum: 128 },
    `Number of answers to each prompt; at most ${MOST_ANSWERS} in all. Default 1.`,
  ),
  n: optInteger({ minimum: 1, maximum: 128 }, "Used when n_cmpl is absent."),
  n_keep: optInteger(
    { minimum: -1 },
    "With --context-shift: number of first tokens to keep; -1: the whole prompt. Without it, a value above 0 is refused.",
  ),
  n_indent: optInteger(
    { minimum: 0 },
    "Without effect: the answer does not end at a line that is indented less. It may thus be longer.",
  ),
  n_probs: optInteger({ minimum: 0, maximum: 20 }, "Number of alternatives for each token; 0: no log probabilities."),
  return_tokens: opt(t.Boolean()),
  response_fields: opt(
    t.Array(t.String({ maxLength: 200 }), {
      maxItems: 64,
      description: "Fields that the answer has; a/b is the field b of a, under the name a/b. Default: all.",
    }),
  ),
};

export const LlamaCompletionRequest = t.Object({
  prompt: t.Union(
    [t.String(), t.Array(t.Union([t.String(), TokenId, TextOrTokens, PromptObject]), { minItems: 1 }), PromptObject],
    {
      description:
        "A text, its token ids, a mixture of both, or several of these. Special tokens in a text count as special tokens.",
    },
  ),
  ...common,
});

export const LlamaInfillRequest = t.Object({
  input_prefix: t.String(),
  input_suffix: t.String(),
  input_extra: opt(
    t.Array(t.Object({ filename: opt(t.String()), text: t.String() }), {
      maxItems: 256,
      description: "Other files, which come first in the prompt.",
    }),
  ),
  prompt: optText("Text with which the gap begins; the answer continues it."),
  ...common,
});

export type LlamaCompletionRequest = Static<typeof LlamaCompletionRequest>;
export type LlamaInfillRequest = Static<typeof LlamaInfillRequest>;

const token = { id: t.Integer(), token: t.String(), bytes: t.Array(t.Integer()), logprob: t.Number() };

/** An answer, or a chunk of a stream. */
export const LlamaCompletion = t.Object({
  index: t.Integer(),
  content: t.String(),
  tokens: t.Array(t.Integer()),
  id_slot: t.Integer(),
  stop: t.Boolean(),
  model: t.Optional(t.String()),
  tokens_predicted: t.Integer(),
  tokens_evaluated: t.Integer({ description: "Number of tokens of the prompt." }),
  generation_settings: t.Optional(JsonObject),
  prompt: t.Optional(t.String()),
  has_new_line: t.Optional(t.Boolean()),
  truncated: t.Optional(
    t.Boolean({ description: "true: the context is full, or was full and older tokens were dropped." }),
  ),
  stop_type: t.Optional(t.Union([t.Literal("none"), t.Literal("eos"), t.Literal("limit"), t.Literal("word")])),
  stopping_word: t.Optional(t.String()),
  tokens_cached: t.Optional(t.Integer({ description: "Tokens of prompt and answer that the cache holds." })),
  timings: t.Optional(Timings),
  completion_probabilities: t.Optional(t.Array(t.Object({ ...token, top_logprobs: t.Array(t.Object(token)) }))),
  prompt_progress: t.Optional(PromptProgress),
});

const ChosenFields = t.Record(t.String(), t.Unknown(), {
  description: "With response_fields: those of the requested fields that the answer has.",
});

/** A list when there are several prompts or answers. */
export const LlamaCompletions = t.Union([LlamaCompletion, t.Array(LlamaCompletion)]);

/** The same, or only the fields that were requested. */
export const ChosenLlamaCompletions = t.Union([LlamaCompletions, ChosenFields, t.Array(ChosenFields)]);

export type LlamaCompletion = Static<typeof LlamaCompletion>;
