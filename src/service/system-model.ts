// Offers the model that every svc has besides others: a small one with a reserved name and a limited surface.

import { SvcError } from "../domain/errors.ts";
import type { GenerateRequest, Sampling } from "../domain/generate.ts";
import { loadedIn } from "../domain/process-status.ts";
import { noTokenizer, type TextPort } from "../engine/text/port.ts";
import type { OfferedModel } from "./offered-models.ts";

export const SYSTEM_MODEL = "svc-system";

/** Lacks `chat`: the model answers requests for its own name, but never replaces another model. */
const CAPABILITIES = ["completion", "streaming", "tools", "structured_output"];

/** Offers the system model. `engine` may also serve another model. */
export const systemModel = (engine: TextPort, parallel: number): OfferedModel => ({
  id: SYSTEM_MODEL,
  served: {
    chat: {
      model: SYSTEM_MODEL,
      engine,
      parallel,
      subject: { kind: "text", model: engine.status().modelId },
      surface: { narrow: narrowed, noTokenizer: noTokenizer(`${SYSTEM_MODEL} has no public tokenizer.`) },
    },
  },
  describe: () => {
    const { state, created, model } = engine.status();
    return {
      id: SYSTEM_MODEL,
      created,
      ownedBy: "system",
      everywhere: true,
      ...loadedIn(state),
      capabilities: CAPABILITIES,
      ...(model && { contextLength: model.maxModelLen, file: model }),
    };
  },
});

/**
 * Returns the parts of a request that this model supports: temperature, top_p, seed, length, stop sequences, tools and
 * schemas. Other samplers and penalties, adapters, log probabilities and profiles are dropped. Throws SvcError
 * `unsupported_parameter` about a grammar or media, because ignoring them would change the answer.
 */
export function narrowed(request: GenerateRequest): GenerateRequest {
  const { sampling, adapters: _adapters, topLogprobs: _logprobs, profile: _profile, ...rest } = request;
  if (request.constraint?.grammar !== undefined) throw unsupported("grammar");
  if (request.messages.some(({ content }) => typeof content !== "string")) throw unsupported("messages", "media in ");
  return { ...rest, sampling: plainSampling(sampling) };
}

const plainSampling = ({ temperature, topP, seed }: Sampling): Sampling => ({
  ...(temperature !== undefined && { temperature }),
  ...(topP !== undefined && { topP }),
  ...(seed !== undefined && { seed }),
});

const unsupported = (param: string, what = "") =>
  new SvcError("unsupported_parameter", `${SYSTEM_MODEL} does not take ${what}'${param}'.`, { param });
