// What services may request of a recognition engine: it reads pages, in processes of its own.

import type { RecognitionEvent, RecognitionWork } from "../../domain/recognition.ts";
import type { ModelStatus, Unloadable } from "../../domain/process-status.ts";
import type { EngineJob } from "../../domain/request-origin.ts";

/** Clients take turns, one page each. */
export type RecognitionJob = EngineJob<RecognitionWork>;

export interface RecognitionPort extends Unloadable {
  status(): ModelStatus;
  /**
   * Recognises what is on a document's pages, which are emitted in order; loads the model first if needed. Throws
   * SvcError (`unsupported_media_input`, `unprocessable_media`, `invalid_value`, `engine_unavailable`,
   * `engine_crashed`, `shutting_down`), or the signal's reason after an abort: what is not computed by then is dropped.
   */
  run(job: RecognitionJob, signal: AbortSignal): AsyncIterable<RecognitionEvent>;
}
