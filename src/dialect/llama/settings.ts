// Encodes the sampling settings of a request in llama.cpp's layout.

import type { GenerateRequest, Sampling } from "../../domain/generate.ts";
import { LLAMA_SAMPLING } from "../../domain/llama-sampling.ts";
import { samplerNames } from "../fields/samplers.ts";

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
    ...Object.fromEntries(
      Object.entries(LLAMA_SAMPLING).map(([name, wire]) => [wire, sampling[name as keyof Sampling]]),
    ),
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
