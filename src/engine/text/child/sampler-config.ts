// Resolves a request's sampling settings: from the request, then flags, then the model file, then llama.cpp's defaults.

import { SAMPLER_DEFAULTS, type SamplerConfig } from "../../../../ffi/llama/api.ts";
import type { GenerateRequest, Sampling } from "../../../domain/generate.ts";

/** Resolves every setting; a request without a seed gets a fresh random one. */
export function samplerConfig(request: GenerateRequest, flags: Sampling, model: Partial<SamplerConfig>): SamplerConfig {
  const { seed, ...sampling } = { ...flags, ...request.sampling };
  return {
    ...SAMPLER_DEFAULTS,
    ...model,
    ...sampling,
    seed: seed ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
    reasoningBudget: request.reasoningBudget ?? -1,
    topLogprobs: request.topLogprobs ?? -1,
  };
}
