// What services may request of a transcription engine: one model, in a process of its own.

import type {
  Heard,
  ListeningWork,
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionWork,
  UtteranceWork,
} from "../../domain/transcription.ts";
import type { ModelStatus, Unloadable } from "../../domain/process-status.ts";
import type { EngineJob } from "../../domain/request-origin.ts";

export interface TranscriptionStatus extends ModelStatus {
  /** The model, once loaded; kept across restarts. */
  readonly model?: TranscriptionModel;
}

export type TranscriptionJob = EngineJob<TranscriptionWork | UtteranceWork>;

export interface TranscriptionPort extends Unloadable {
  /** Whether it can tell speech from other sound; if not, all sound counts as speech. */
  readonly detectsSpeech: boolean;
  /** Whether the model was trained to translate into English; others do not, and report no error. */
  readonly translates: boolean;
  status(): TranscriptionStatus;
  /**
   * Recognises a recording, after loading the model if needed. Throws SvcError (`invalid_value` about the recording or
   * its language, `no_speech`, `engine_unavailable`, `engine_crashed`, `shutting_down`), or the signal's reason after
   * an abort: what is not computed by then is dropped.
   */
  run(job: TranscriptionJob, signal: AbortSignal): AsyncIterable<TranscriptionEvent>;
  /**
   * Detects speech in the next part of a stream, at once: a millisecond's work for each third of a second, so pass a
   * few seconds at a time. Throws SvcError (`engine_unavailable`, `engine_crashed`, `shutting_down`), or the signal's
   * reason.
   */
  listen(work: ListeningWork, signal: AbortSignal): Promise<Heard>;
}
