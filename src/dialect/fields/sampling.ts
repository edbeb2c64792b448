// Decodes sampling fields; absent and null fields stay absent, so that defaults apply.

import type { SamplingFields } from "../../contract/sampling.ts";
import { fieldError } from "../../domain/errors.ts";
import type { Sampling } from "../../domain/generate.ts";
import { LLAMA_SAMPLING } from "../../domain/llama-sampling.ts";
import { setsAdaptiveTarget } from "./peer-fields.ts";
import { decodeSamplers } from "./samplers.ts";

/** Fields with their settings. Of two fields for one setting, the last counts. */
const PLAIN: Readonly<Record<string, keyof Sampling>> = {
  ...Object.fromEntries(Object.entries(LLAMA_SAMPLING).map(([name, wire]) => [wire, name as keyof Sampling])),
  repetition_penalty: "repetitionPenalty",
  frequency_penalty: "frequencyPenalty",
  min_tokens: "minTokens",
};

const MOST = 2 ** 31 - 1;
/** Used for a top_p of 0: only the most probable token is left. */
const LEAST_TOP_P = 1e-6;
/** A bias this low bans a token instead of making it improbable. */
const BAN = -100;
const BANNED = -1e9;

/**
 * Decodes the sampling fields of `body`, which was checked against `schema`. Fields that the schema lacks are
 * unchecked and ignored. Throws SvcError `invalid_value` when `logit_bias` has a key that is not a token id.
 */
export function decodeSampling(body: SamplingFields, schema: { readonly properties: object }): Sampling {
  const known = Object.entries(body).filter(([name]) => Object.hasOwn(schema.properties, name));
  const fields: SamplingFields = Object.fromEntries(known);
  const plain = Object.entries(PLAIN).flatMap(([wire, name]) => {
    const value = fields[wire as keyof SamplingFields];
    return value == null ? [] : [[name, value] as const];
  });
  return {
    ...(Object.fromEntries(plain) as Sampling),
    ...(fields.top_p != null && { topP: Math.max(fields.top_p, LEAST_TOP_P) }),
    ...(fields.top_k != null && { topK: Math.min(Math.max(fields.top_k, 0), MOST) }),
    ...decodeSamplers(
      fields.samplers,
      setsAdaptiveTarget((body as Readonly<Record<string, unknown>>)["adaptive_target"]),
    ),
    ...(fields.logit_bias != null && { logitBias: decodeBias(fields.logit_bias) }),
    ...(fields.seed != null && { seed: decodeSeed(fields.seed) }),
  };
}

/** Returns the seed; -1 requests a random one even when the server has a default seed. */
function decodeSeed(seed: number): number {
  if (seed === -1) return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  return Number(BigInt.asUintN(32, BigInt(seed)));
}

type Bias = NonNullable<SamplingFields["logit_bias"]>;

function decodeBias(bias: Bias): NonNullable<Sampling["logitBias"]> {
  if (Array.isArray(bias)) {
    return bias.map(([token, value]) => [token, value === false || value <= BAN ? BANNED : value]);
  }
  return Object.entries(bias).map(([token, value]) => {
    if (/^\d{1,9}$/.test(token)) return [Number(token), value <= BAN ? BANNED : value];
    throw fieldError("invalid_value", "logit_bias", "must have token ids as keys");
  });
}
