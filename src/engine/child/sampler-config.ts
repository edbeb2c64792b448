// Effective sampling settings of a request: request, then flags, then the model file, then llama.cpp's defaults.

import type { SamplerConfig } from "../../../ffi/llama/api.ts";
import type { GenerateRequest, Sampling } from "../../domain/generate.ts";

/** llama.cpp's own defaults, as its command line has them. */
const LLAMA_DEFAULTS = {
  temperature: 0.8,
  topP: 0.95,
  topK: 40,
  minP: 0.05,
  repetitionPenalty: 1,
  repetitionWindow: 64,
  presencePenalty: 0,
} as const;

/** Resolves every setting; a request without a seed gets a fresh random one. */
export function samplerConfig(request: GenerateRequest, flags: Sampling, model: Partial<SamplerConfig>): SamplerConfig {
  const { seed, ...sampling } = { ...flags, ...request.sampling };
  return {
    ...LLAMA_DEFAULTS,
    ...model,
    ...sampling,
    seed: seed ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
    topLogprobs: request.topLogprobs ?? -1,
    ignoreEos: false,
  };
}
