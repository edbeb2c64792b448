// Runs a speech recognition model in a process of its own.

import { SvcError } from "../../domain/errors.ts";
import type { Heard, ListeningWork, TranscriptionEvent, TranscriptionModel } from "../../domain/transcription.ts";
import { LazyEngine, type KnownModel, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { TranscriptionJob, TranscriptionPort, TranscriptionStatus } from "./port.ts";
import type { TranscriberEvent, TranscriberJob, TranscriberOptions } from "./protocol.ts";

interface KnownTranscriber extends KnownModel {
  readonly translates: boolean;
}

type TranscriptionEngineOptions = LazyEngineOptions<TranscriberOptions, KnownTranscriber>;

export class TranscriptionEngine
  extends LazyEngine<TranscriberOptions, KnownTranscriber, TranscriptionModel, TranscriberJob, TranscriberEvent>
  implements TranscriptionPort
{
  constructor(options: TranscriptionEngineOptions) {
    super("transcription", options);
  }

  /** How many recordings are recognised in parallel. */
  get parallel(): number {
    return this.options.engine.parallel;
  }

  get detectsSpeech(): boolean {
    return this.options.engine.vadPath !== undefined;
  }

  get translates(): boolean {
    return this.options.model.translates;
  }

  override status(): TranscriptionStatus {
    return { ...super.status(), ...(this.loaded && { model: this.loaded, device: this.loaded.device }) };
  }

  run(job: TranscriptionJob, signal: AbortSignal): AsyncGenerator<TranscriptionEvent, void, void> {
    // A generator would keep the job alive, and with it the job's sound. Only `listen` is answered with `heard`.
    return this.runJob(job, signal) as AsyncGenerator<TranscriptionEvent, void, void>;
  }

  async listen(listening: ListeningWork, signal: AbortSignal): Promise<Heard> {
    for await (const event of this.runJob({ listening }, signal)) if (event.type === "heard") return event.heard;
    throw new SvcError("internal_error", "The engine did not report what it heard.");
  }
}
