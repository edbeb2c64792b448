// Fields that generation routes share: stop conditions, grammars and sampling. Beyond OpenAI's fields, the names are
// llama.cpp's.

import { opt, t, type Static } from "./schema.ts";
import { TokenId } from "./token-ids.ts";

const StopSequence = t.String({ minLength: 1, maxLength: 1000 });
export const stopSequences = t.Array(StopSequence, { maxItems: 16 });
export const stop = opt(t.Union([StopSequence, stopSequences]));
export const grammar = opt(
  t.String({ maxLength: 1_000_000, description: "GBNF that the answer follows; empty is none." }),
);

/** A limit in tokens. Several clients send -1 for no limit; routes that cannot answer with 0 tokens refuse 0. */
export const outputLimit = (description: string) => t.Integer({ minimum: -1, description });

export const predictMs = opt(
  t.Integer({
    minimum: 0,
    maximum: 86_400_000,
    description: "Milliseconds after its first token at which an answer with a line break ends; 0 is off.",
  }),
);

export const cachePrompt = opt(t.Boolean({ description: "false: the whole prompt is computed. Default true." }));

export const idSlot = opt(
  t.Integer({
    minimum: -1,
    description: "The slot that holds its tokens afterwards, for POST /slots; -1 is 0. It finds every prefix.",
  }),
);

const Bias = t.Number({ minimum: -100, maximum: 100 });
const RepetitionPenalty = t.Number({ minimum: 0.01, maximum: 10 });
const Window = t.Integer({ minimum: -1, maximum: 1_048_576, description: "Tokens; -1 is the whole context." });
const share = (description: string) => t.Number({ minimum: 0, maximum: 1, description });

export const samplingFields = {
  temperature: opt(t.Number({ minimum: 0, maximum: 5, description: "0 is greedy; up to 2 is the usual range." })),
  top_p: opt(t.Number({ minimum: 0, maximum: 1 })),
  top_k: opt(t.Integer({ minimum: -1, description: "0 and -1 are off." })),
  min_p: opt(t.Number({ minimum: 0, maximum: 1 })),
  typical_p: opt(share("Locally typical sampling; 1 is off.")),
  top_n_sigma: opt(t.Number({ minimum: -1, maximum: 100, description: "-1 is off." })),
  xtc_probability: opt(share("Chance of leaving out the most probable tokens; 0 is off.")),
  xtc_threshold: opt(share("Tokens above it are what XTC leaves out; above 0.5 is off.")),
  dynatemp_range: opt(t.Number({ minimum: 0, maximum: 5, description: "Temperature moves by so much; 0 is off." })),
  dynatemp_exponent: opt(t.Number({ exclusiveMinimum: 0, maximum: 100 })),
  repetition_penalty: opt(RepetitionPenalty),
  repeat_penalty: opt(RepetitionPenalty),
  repeat_last_n: opt(Window),
  presence_penalty: opt(t.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: opt(t.Number({ description: "Deprecated; passed on to upstreams, without effect elsewhere." })),
  dry_multiplier: opt(t.Number({ minimum: 0, maximum: 100, description: "Strength of the DRY penalty; 0 is off." })),
  dry_base: opt(t.Number({ minimum: 1, maximum: 100 })),
  dry_allowed_length: opt(t.Integer({ minimum: 0, maximum: 1_048_576 })),
  dry_penalty_last_n: opt(Window),
  dry_sequence_breakers: opt(t.Array(t.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 64 })),
  mirostat: opt(
    t.Unsafe<0 | 1 | 2>(
      t.Integer({ minimum: 0, maximum: 2, description: "0 is off; replaces the other truncations." }),
    ),
  ),
  mirostat_tau: opt(t.Number({ minimum: 0, maximum: 100 })),
  mirostat_eta: opt(t.Number({ minimum: 0, maximum: 1 })),
  logit_bias: opt(
    t.Union(
      [
        t.Record(t.String(), Bias, { maxProperties: 10_000 }),
        t.Array(t.Tuple([TokenId, t.Union([Bias, t.Literal(false)])]), { maxItems: 10_000 }),
      ],
      { description: "Token id to bias, or a list of pairs; -100 and false ban the token." },
    ),
  ),
  samplers: opt(t.Array(t.String(), { maxItems: 32, description: "Those that are not named are off." })),
  seed: opt(t.Integer({ description: "-1 is random; others count modulo 2^32." })),
  ignore_eos: opt(t.Boolean({ description: "The model cannot end its turn." })),
  min_tokens: opt(t.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: "Tokens before the turn can end." })),
};

const SamplingFields = t.Object(samplingFields);
export type SamplingFields = Static<typeof SamplingFields>;
