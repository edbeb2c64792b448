// The engine of a server without a model of its own.

import { SvcError } from "../../domain/errors.ts";
import type { EngineEvent } from "../../domain/generate.ts";
import { noTokenizer, WithoutTokenizer, type TextPort, type TextStatus } from "./port.ts";

/** Implements the text port without an engine: it generates nothing and has no tokenizer. */
export class NoEngine extends WithoutTokenizer implements TextPort {
  protected readonly noTokenizer = noTokenizer(
    "The server was started without a model (--no-model), and so has no tokenizer.",
  );

  status(): TextStatus {
    return { ...idle, modelId: "", created: 0, adapters: [] };
  }

  // eslint-disable-next-line require-yield
  async *generate(): AsyncGenerator<EngineEvent, void, void> {
    throw new SvcError("model_not_found", "The server was started without a model (--no-model).", { param: "model" });
  }

  cancel(): boolean {
    return false;
  }
}

const idle = { state: "none", restarts: 0, running: 0, waiting: 0, residentBytes: 0 } as const;
