// The model that every svc has, whatever else it serves: a small one with a reserved name and a narrower surface.

import { SvcError } from "../domain/errors.ts";
import type { EngineEvent, GenerateRequest, Sampling } from "../domain/generate.ts";
import type { ListedModel } from "../domain/model.ts";
import { WithoutTokenizer, type EnginePort, type EngineStatus } from "../engine/text/port.ts";
import type { Backend, ModelSource } from "./model-router.ts";

export const SYSTEM_MODEL = "svc-system";

/** Without `chat`: it answers who asks for it by name, and never in the place of another model. */
const CAPABILITIES = ["completion", "streaming", "tools", "structured_output"];

export class SystemModel implements ModelSource {
  private readonly backend: Backend;

  /** `engine` may be that of another model too. */
  constructor(engine: EnginePort, parallel: number) {
    this.backend = { model: SYSTEM_MODEL, engine: new SystemModelEngine(engine), parallel };
  }

  models(): readonly ListedModel[] {
    const { state, modelCreated: created, model } = this.backend.engine.status();
    return [
      {
        id: SYSTEM_MODEL,
        created,
        ownedBy: "system",
        everywhere: true,
        loaded: state === "ready",
        capabilities: CAPABILITIES,
        ...(model && { contextLength: model.maxModelLen, file: model }),
      },
    ];
  }

  find(model: string): Backend | undefined {
    return model === SYSTEM_MODEL ? this.backend : undefined;
  }
}

/**
 * What this model takes of a request: sampling by temperature, top_p and seed, its length, stop sequences, tools and schemas.
 * Other samplers and penalties, adapters, log probabilities and profiles are ignored. Throws SvcError
 * `unsupported_parameter` about a grammar and media, without which the answer would be another one.
 */
export function narrowed(request: GenerateRequest): GenerateRequest {
  const { sampling, adapters: _, topLogprobs: __, profile: ___, ...rest } = request;
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

class SystemModelEngine extends WithoutTokenizer implements EnginePort {
  protected readonly noTokenizer = { message: `${SYSTEM_MODEL} has no public tokenizer.` };

  constructor(private readonly engine: EnginePort) {
    super();
  }

  status(): EngineStatus {
    return { ...this.engine.status(), modelId: SYSTEM_MODEL };
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    yield* this.engine.generate(narrowed(request), signal);
  }

  cancel(id: string): void {
    this.engine.cancel(id);
  }

  stop(): Promise<void> {
    return this.engine.stop();
  }
}
