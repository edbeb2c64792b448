// The engine of a server that computes nothing itself.

import { SvcError } from "../../domain/errors.ts";
import type { EngineEvent } from "../../domain/generate.ts";
import { noSteps } from "../../domain/steps.ts";
import { noStats, WithoutTokenizer, type EnginePort, type EngineStatus } from "./port.ts";

/** Answers the engine port without an engine: nothing is generated here, and there is no tokenizer. */
export class NoEngine extends WithoutTokenizer implements EnginePort {
  protected readonly noTokenizer = { message: "This server has no model of its own, and so no tokenizer." };

  status(): EngineStatus {
    return {
      state: "none",
      modelId: "",
      modelCreated: 0,
      adapters: [],
      restarts: 0,
      stats: noStats,
      steps: noSteps(),
    };
  }

  // eslint-disable-next-line require-yield
  async *generate(): AsyncGenerator<EngineEvent, void, void> {
    throw new SvcError("model_not_found", "This server has no model of its own.", { param: "model" });
  }

  cancel(): void {}

  async stop(): Promise<void> {}
}
