// A voice in a process of its own.

import type { SpeechEvent, Voice } from "../../domain/speech.ts";
import type { Metric } from "../../telemetry/exposition.ts";
import { processMetrics, type ObservedEngine } from "../process/status.ts";
import { Supervisor } from "../process/supervisor.ts";
import type { Launch } from "../process/supervisor-options.ts";
import type { SpeechJob, SpeechPort, SpeechStatus } from "./port.ts";
import type { SpeakerModel, SpeakerOptions } from "./protocol.ts";

export interface SpeechEngineOptions {
  readonly engine: SpeakerOptions;
  /** What is known of the model before it is loaded. */
  readonly model: { readonly id: string; readonly created: number; readonly voices: readonly Voice[] };
  readonly launch: Launch;
  /** Milliseconds without a request after which the model is unloaded; 0: never. */
  readonly idleMs: number;
}

export class SpeechEngine implements SpeechPort, ObservedEngine {
  readonly kind = "speech";
  readonly model: string;
  private readonly supervisor: Supervisor<SpeakerOptions, SpeakerModel, SpeechJob, SpeechEvent>;

  constructor(private readonly options: SpeechEngineOptions) {
    const { engine, model, launch, idleMs } = options;
    this.model = model.id;
    this.supervisor = new Supervisor({
      kind: this.kind,
      model: model.id,
      load: () => engine,
      launch,
      start: "lazy",
      idleMs,
    });
  }

  status(): SpeechStatus {
    const { id: modelId, created, voices } = this.options.model;
    return { ...this.supervisor.status(), modelId, created, voices };
  }

  metrics(): Metric[] {
    return processMetrics(this.supervisor.status());
  }

  run(job: SpeechJob, signal: AbortSignal) {
    return this.supervisor.run(job, signal);
  }

  stop(): Promise<void> {
    return this.supervisor.stop();
  }
}
