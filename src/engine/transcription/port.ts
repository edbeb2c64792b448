// What services may request of a transcription engine: one model, in a process of its own.

import type {
  Heard,
  ListeningWork,
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionWork,
  UtteranceWork,
} from "../../domain/transcription.ts";
import type { ModelStatus } from "../../domain/process-status.ts";

export interface TranscriptionStatus extends ModelStatus {
  /** The model, once loaded; kept through a restart. */
  readonly model?: TranscriptionModel;
}

export interface TranscriptionJob {
  readonly work: TranscriptionWork | UtteranceWork;
  /** Whose request it is: clients take turns. */
  readonly client?: string | undefined;
  /** Nobody waits for it: others come first. */
  readonly background?: true | undefined;
}

export interface TranscriptionPort {
  /** false: it cannot tell speech from everything else, and takes all sound for speech. */
  readonly tellsSpeech: boolean;
  /** Whether the model was trained to translate into English; others do not, and say nothing. */
  readonly translates: boolean;
  status(): TranscriptionStatus;
  /**
   * Recognises a recording; loads the model first where that has to be. Throws SvcError (`invalid_value` about the recording
   * or its language, `no_speech`, `engine_unavailable`, `engine_crashed`, `shutting_down`), or the signal's reason after an
   * abort: what was not computed by then is dropped.
   */
  run(job: TranscriptionJob, signal: AbortSignal): AsyncIterable<TranscriptionEvent>;
  /**
   * Looks for speech in what came next in a stream, at once: a millisecond's work for each third of a second, so give it a few
   * seconds at a time. Throws SvcError (`engine_unavailable`, `engine_crashed`, `shutting_down`), or the signal's reason.
   */
  listen(work: ListeningWork, signal: AbortSignal): Promise<Heard>;
}
