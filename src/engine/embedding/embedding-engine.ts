// A model for vectors or scores in a process of its own.

import type { EmbeddingModel, EmbeddingWork } from "../../domain/embedding.ts";
import type { Metric } from "../../telemetry/exposition.ts";
import { processMetrics, type ObservedEngine } from "../process/status.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { Launch } from "../process/supervisor-options.ts";
import type { EmbeddingEvent, EmbeddingJob, EmbeddingOrigin, EmbeddingPort, EmbeddingStatus } from "./port.ts";
import type { EmbedderOptions } from "./protocol.ts";

export interface EmbeddingEngineOptions {
  readonly engine: EmbedderOptions;
  /** What is known of the model before it is loaded. */
  readonly model: { readonly id: string; readonly created: number; readonly dimensions: number };
  readonly launch: Launch;
  /** Milliseconds without a request after which the model is unloaded; 0: never. */
  readonly idleMs: number;
}

export class EmbeddingEngine implements EmbeddingPort, ObservedEngine {
  readonly kind = "embedding";
  readonly model: string;
  private readonly supervisor: Supervisor<EmbedderOptions, EmbeddingModel, EmbeddingJob, EmbeddingEvent>;
  private loaded: EmbeddingModel | undefined;

  constructor(private readonly options: EmbeddingEngineOptions) {
    const { engine, model, launch, idleMs } = options;
    this.model = model.id;
    this.supervisor = new Supervisor({
      kind: this.kind,
      model: model.id,
      load: () => engine,
      launch,
      start: "lazy",
      idleMs,
      onReady: (ready) => (this.loaded = ready),
    });
  }

  status(): EmbeddingStatus {
    const { model, engine } = this.options;
    return {
      ...this.supervisor.status(),
      modelId: model.id,
      created: model.created,
      kind: engine.kind,
      maxTokens: engine.maxTokens,
      dimensions: this.loaded?.dimensions ?? model.dimensions,
      ...(this.loaded && { model: this.loaded }),
    };
  }

  metrics(): Metric[] {
    return processMetrics(this.supervisor.status());
  }

  run(work: EmbeddingWork, signal: AbortSignal, { client }: Partial<EmbeddingOrigin> = {}) {
    return this.supervisor.run({ work, ...(client !== undefined && { client }) }, signal);
  }

  stop(): Promise<void> {
    return this.supervisor.stop();
  }
}
