// What services may request of a transcription engine: one model, in a process of its own.

import type { TranscriptionEvent, TranscriptionModel, TranscriptionWork } from "../../domain/transcription.ts";
import type { ProcessStatus } from "../process/status.ts";

export interface TranscriptionStatus extends ProcessStatus {
  readonly modelId: string;
  /** Unix seconds of the model file's last change. */
  readonly created: number;
  /** The model, once loaded; kept through a restart. */
  readonly model?: TranscriptionModel;
}

export interface TranscriptionJob {
  readonly work: TranscriptionWork;
  /** Whose request it is: clients take turns. */
  readonly client?: string;
  /** Nobody waits for it: others come first. */
  readonly background?: true;
}

export interface TranscriptionPort {
  status(): TranscriptionStatus;
  /**
   * Recognises a recording; loads the model first where that has to be. Throws SvcError (`invalid_value` about the recording
   * or its language, `no_speech`, `engine_unavailable`, `engine_crashed`, `shutting_down`), or the signal's reason after an
   * abort: what was not computed by then is dropped.
   */
  run(job: TranscriptionJob, signal: AbortSignal): AsyncIterable<TranscriptionEvent>;
  /** Ends the process; resolves when it is gone. */
  stop(): Promise<void>;
}
