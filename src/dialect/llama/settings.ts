// Encodes the sampling settings of a request in llama.cpp's layout.

import type { GenerateRequest, Sampling } from "../../domain/generate.ts";
import { samplerNames } from "../fields/samplers.ts";

/** Wire names of settings, in llama.cpp's order. */
const NAMES: readonly (readonly [string, keyof Sampling])[] = [
  ["temperature", "temperature"],
  ["dynatemp_range", "dynatempRange"],
  ["dynatemp_exponent", "dynatempExponent"],
  ["top_k", "topK"],
  ["top_p", "topP"],
  ["min_p", "minP"],
  ["top_n_sigma", "topNSigma"],
  ["xtc_probability", "xtcProbability"],
  ["xtc_threshold", "xtcThreshold"],
  ["typical_p", "typicalP"],
  ["repeat_last_n", "repetitionWindow"],
  ["repeat_penalty", "repetitionPenalty"],
  ["presence_penalty", "presencePenalty"],
  ["dry_multiplier", "dryMultiplier"],
  ["dry_base", "dryBase"],
  ["dry_allowed_length", "dryAllowedLength"],
  ["dry_penalty_last_n", "dryPenaltyLastN"],
  ["dry_sequence_breakers", "drySequenceBreakers"],
  ["mirostat", "mirostat"],
  ["mirostat_tau", "mirostatTau"],
  ["mirostat_eta", "mirostatEta"],
  ["ignore_eos", "ignoreEos"],
];

/** llama.cpp's value for a random seed. */
const RANDOM = 4_294_967_295;

type Settings = Pick<GenerateRequest, "sampling"> &
  Partial<Pick<GenerateRequest, "stop" | "maxTokens" | "topLogprobs" | "constraint" | "adapters" | "keepTokens">>;

/** Encodes the settings. `defaults`: settings that apply when the request has none. */
export function encodeSettings(request: Settings, defaults: Sampling, stream: boolean): Record<string, unknown> {
  const sampling = { ...defaults, ...request.sampling };
  const limit = request.maxTokens ?? -1;
  return {
    seed: sampling.seed ?? RANDOM,
    ...Object.fromEntries(NAMES.map(([wire, name]) => [wire, sampling[name]])),
    frequency_penalty: 0,
    stop: request.stop ?? [],
    max_tokens: limit,
    n_predict: limit,
    n_keep: request.keepTokens ?? 0,
    n_discard: 0,
    stream,
    logit_bias: (sampling.logitBias ?? []).map(([token, bias]) => ({ token, bias })),
    n_probs: request.topLogprobs ?? 0,
    min_keep: 0,
    grammar: request.constraint?.grammar ?? "",
    samplers: samplerNames,
    lora: request.adapters ?? [],
  };
}
