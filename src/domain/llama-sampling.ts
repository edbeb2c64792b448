// Names of sampling settings in llama.cpp's server. Our own fields and Ollama's options have the same names.

import type { Sampling } from "./generate.ts";

/** In llama.cpp's order. */
export const LLAMA_SAMPLING = {
  temperature: "temperature",
  dynatempRange: "dynatemp_range",
  dynatempExponent: "dynatemp_exponent",
  topK: "top_k",
  topP: "top_p",
  minP: "min_p",
  topNSigma: "top_n_sigma",
  xtcProbability: "xtc_probability",
  xtcThreshold: "xtc_threshold",
  typicalP: "typical_p",
  repetitionWindow: "repeat_last_n",
  repetitionPenalty: "repeat_penalty",
  presencePenalty: "presence_penalty",
  dryMultiplier: "dry_multiplier",
  dryBase: "dry_base",
  dryAllowedLength: "dry_allowed_length",
  dryPenaltyLastN: "dry_penalty_last_n",
  drySequenceBreakers: "dry_sequence_breakers",
  mirostat: "mirostat",
  mirostatTau: "mirostat_tau",
  mirostatEta: "mirostat_eta",
  ignoreEos: "ignore_eos",
} as const satisfies Partial<Record<keyof Sampling, string>>;
