// The engine of a server that computes nothing itself.

import { SvcError } from "../domain/errors.ts";
import type { EngineEvent } from "../domain/generate.ts";
import { noSteps } from "../domain/steps.ts";
import { nobodyWaits } from "../domain/waiting.ts";
import type { EnginePort, EngineStatus } from "./port.ts";

/** Answers the engine port without an engine: nothing is generated here, and there is no tokenizer. */
export class NoEngine implements EnginePort {
  status(): EngineStatus {
    const kv = {
      kvUsed: 0,
      kvCached: 0,
      kvSaved: 0,
      kvTotal: 0,
      evictedTokens: 0,
      spilledTokens: 0,
      restoredTokens: 0,
    };
    const counts = { steps: 0, preemptions: 0, guessedTokens: 0, guessedRight: 0, residentBytes: 0 };
    return {
      state: "none",
      modelId: "",
      modelCreated: 0,
      restarts: 0,
      stats: { running: 0, waiting: 0, waitingFor: nobodyWaits, ...kv, ...counts },
      steps: noSteps(),
    };
  }

  // eslint-disable-next-line require-yield
  async *generate(): AsyncGenerator<EngineEvent, void, void> {
    throw new SvcError("model_not_found", "This server has no model of its own.", { param: "model" });
  }

  cancel(): void {}

  tokenize(): Promise<never> {
    return Promise.reject(noTokenizer());
  }

  countTokens(): Promise<never> {
    return Promise.reject(noTokenizer());
  }

  detokenize(): Promise<never> {
    return Promise.reject(noTokenizer());
  }

  render(): Promise<never> {
    return Promise.reject(noTokenizer());
  }

  async stop(): Promise<void> {}
}

const noTokenizer = () =>
  new SvcError("tokenize_unsupported", "This server has no model of its own, and so no tokenizer.");
