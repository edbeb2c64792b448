// Fields that generation routes share: stop conditions, grammars and sampling. Beyond OpenAI's fields, the names are
// llama.cpp's.

import { opt, optFlag, optInteger, t, type Static } from "./schema.ts";
import { TokenId } from "./token-ids.ts";

const StopSequence = t.String({ maxLength: 1000 });
export const stopSequences = t.Array(StopSequence, { maxItems: 128, description: "Empty texts are ignored." });
export const stop = opt(
  t.Union([StopSequence, stopSequences], { description: "At most 128 texts; empty ones are ignored." }),
);
export const grammar = opt(
  t.String({ maxLength: 1_000_000, description: "GBNF grammar that the answer must follow; empty: none." }),
);

/** A limit in tokens. Several clients send -1 for no limit; routes that cannot answer with 0 tokens refuse 0. */
export const outputLimit = (description: string) => t.Integer({ minimum: -1, description });

const Bias = t.Number({ minimum: -100, maximum: 100 });
const repetitionPenalty = (precedence = "") =>
  t.Number({
    minimum: 0.01,
    maximum: 10,
    description: `Above 1, tokens among the last repeat_last_n become less probable; 1: off.${precedence}`,
  });
const Window = t.Integer({
  minimum: -1,
  maximum: 1_048_576,
  description: "Number of last tokens to consider; -1: the whole context.",
});
const share = (description: string) => t.Number({ minimum: 0, maximum: 1, description });

export const samplingFields = {
  temperature: opt(
    t.Number({ minimum: 0, maximum: 5, description: "0 is greedy sampling; values up to 2 are usual." }),
  ),
  top_p: opt(t.Number({ minimum: 0, maximum: 1 })),
  top_k: optInteger({ minimum: -1 }, "0 and -1: off."),
  min_p: opt(t.Number({ minimum: 0, maximum: 1 })),
  typical_p: opt(share("Locally typical sampling; 1: off.")),
  top_n_sigma: opt(t.Number({ minimum: -1, maximum: 100, description: "-1: off." })),
  xtc_probability: opt(share("Probability with which XTC removes the most probable tokens; 0: off.")),
  xtc_threshold: opt(
    share("XTC removes tokens with a probability above this one, except the least probable of them; above 0.5: off."),
  ),
  dynatemp_range: opt(
    t.Number({
      minimum: 0,
      maximum: 5,
      description: "How far the temperature may move up or down, depending on the entropy; 0: off.",
    }),
  ),
  dynatemp_exponent: opt(t.Number({ exclusiveMinimum: 0, maximum: 100 })),
  repetition_penalty: opt(repetitionPenalty(" Takes precedence over repeat_penalty.")),
  repeat_penalty: opt(repetitionPenalty()),
  repeat_last_n: opt(Window),
  presence_penalty: opt(t.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: opt(
    t.Number({ description: "Deprecated. Passed on to upstreams; no effect on models of this server." }),
  ),
  dry_multiplier: opt(t.Number({ minimum: 0, maximum: 100, description: "Strength of the DRY penalty; 0: off." })),
  dry_base: opt(t.Number({ minimum: 1, maximum: 100 })),
  dry_allowed_length: opt(t.Integer({ minimum: 0, maximum: 1_048_576 })),
  dry_penalty_last_n: opt(Window),
  dry_sequence_breakers: opt(t.Array(t.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 64 })),
  mirostat: opt(
    t.Unsafe<0 | 1 | 2>(
      t.Integer({
        minimum: 0,
        maximum: 2,
        description: "Version of Mirostat, which replaces the other truncating samplers; 0: off.",
      }),
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
      { description: "Object of token ids and biases, or a list of pairs; -100 and false ban the token." },
    ),
  ),
  samplers: opt(
    t.Union([t.Array(t.String(), { maxItems: 32 }), t.String({ maxLength: 32 })], {
      description:
        "Names of samplers in their fixed order, or a text of llama.cpp's letters for them (edskypmxt). Samplers that are not named are off; unknown names are skipped.",
    }),
  ),
  seed: opt(t.Integer({ description: "-1: random; other values are taken modulo 2^32." })),
  ignore_eos: optFlag("true: the model cannot end its turn, so the answer runs to the limit."),
  min_tokens: optInteger({ minimum: 0, maximum: 2 ** 31 - 1 }, "Minimum tokens before the model can end its turn."),
};

export const SamplingFields = t.Object(samplingFields);
export type SamplingFields = Static<typeof SamplingFields>;
