// A speech recognition model in a process of its own.

import type { TranscriptionEvent, TranscriptionModel } from "../../domain/transcription.ts";
import { LazyEngine, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { TranscriptionJob, TranscriptionPort, TranscriptionStatus } from "./port.ts";
import type { RecogniserOptions } from "./protocol.ts";

interface KnownModel {
  readonly id: string;
  readonly created: number;
}

export type TranscriptionEngineOptions = LazyEngineOptions<RecogniserOptions, KnownModel>;

export class TranscriptionEngine
  extends LazyEngine<RecogniserOptions, KnownModel, TranscriptionModel, TranscriptionJob, TranscriptionEvent>
  implements TranscriptionPort
{
  constructor(options: TranscriptionEngineOptions) {
    super("transcription", options);
  }

  /** Recordings that are recognised side by side. */
  get parallel(): number {
    return this.options.engine.parallel;
  }

  status(): TranscriptionStatus {
    const { id: modelId, created } = this.options.model;
    return { ...this.supervisor.status(), modelId, created, ...(this.loaded && { model: this.loaded }) };
  }

  run(job: TranscriptionJob, signal: AbortSignal): AsyncIterable<TranscriptionEvent> {
    return this.supervisor.run(job, signal);
  }
}
