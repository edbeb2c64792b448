// Runs a model for vectors or scores in a process of its own.

import type { EmbeddingModel, EmbeddingWork } from "../../domain/embedding.ts";
import { LazyEngine, type KnownModel, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { EmbeddingEvent, EmbeddingJob, EmbeddingPort, EmbeddingStatus } from "./port.ts";
import type { RequestOrigin } from "../../domain/request-origin.ts";
import type { EmbedderOptions } from "./protocol.ts";

interface KnownEmbedder extends KnownModel {
  readonly dimensions: number;
}

type EmbeddingEngineOptions = LazyEngineOptions<EmbedderOptions, KnownEmbedder>;

export class EmbeddingEngine
  extends LazyEngine<EmbedderOptions, KnownEmbedder, EmbeddingModel, EmbeddingJob, EmbeddingEvent>
  implements EmbeddingPort
{
  constructor(options: EmbeddingEngineOptions) {
    super("embedding", options);
  }

  override status(): EmbeddingStatus {
    const { model, engine } = this.options;
    return {
      ...super.status(),
      kind: engine.kind,
      maxTokens: engine.maxTokens,
      dimensions: this.loaded?.dimensions ?? model.dimensions,
      ...(this.loaded && { model: this.loaded, device: this.loaded.device }),
    };
  }

  run(work: EmbeddingWork, signal: AbortSignal, { client, background }: Partial<RequestOrigin> = {}) {
    return this.runJob({ work, client, background }, signal);
  }
}
