// A speech recognition model in a process of its own.

import type { TranscriptionEvent, TranscriptionModel } from "../../domain/transcription.ts";
import type { Metric } from "../../telemetry/exposition.ts";
import { processMetrics, type ObservedEngine } from "../process/status.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { Launch } from "../process/supervisor-options.ts";
import type { TranscriptionJob, TranscriptionPort, TranscriptionStatus } from "./port.ts";
import type { RecogniserOptions } from "./protocol.ts";

export interface TranscriptionEngineOptions {
  readonly engine: RecogniserOptions;
  /** What is known of the model before it is loaded. */
  readonly model: { readonly id: string; readonly created: number };
  readonly launch: Launch;
  /** Milliseconds without a request after which the model is unloaded; 0: never. */
  readonly idleMs: number;
}

export class TranscriptionEngine implements TranscriptionPort, ObservedEngine {
  readonly kind = "transcription";
  readonly model: string;
  /** Recordings that are recognised side by side. */
  readonly parallel: number;
  private readonly supervisor: Supervisor<RecogniserOptions, TranscriptionModel, TranscriptionJob, TranscriptionEvent>;
  private loaded: TranscriptionModel | undefined;

  constructor(private readonly options: TranscriptionEngineOptions) {
    const { engine, model, launch, idleMs } = options;
    this.model = model.id;
    this.parallel = engine.parallel;
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

  status(): TranscriptionStatus {
    const { id: modelId, created } = this.options.model;
    return { ...this.supervisor.status(), modelId, created, ...(this.loaded && { model: this.loaded }) };
  }

  metrics(): Metric[] {
    return processMetrics(this.supervisor.status());
  }

  run(job: TranscriptionJob, signal: AbortSignal): AsyncIterable<TranscriptionEvent> {
    return this.supervisor.run(job, signal);
  }

  stop(): Promise<void> {
    return this.supervisor.stop();
  }
}
