// What services may request of a recognition engine: a reader of pages, in processes of its own.

import type { RecognitionEvent, RecognitionWork } from "../../domain/recognition.ts";
import type { ModelStatus } from "../../domain/process-status.ts";

export interface RecognitionJob {
  readonly work: RecognitionWork;
  /** Whose request it is: clients take turns, a page each. */
  readonly client?: string | undefined;
}

export interface RecognitionPort {
  status(): ModelStatus;
  /**
   * Recognises what is on a document's pages, which are told in their order; loads the model first where that has to be. Throws SvcError
   * (`unsupported_media_input`, `unprocessable_media`, `invalid_value`, `engine_unavailable`, `engine_crashed`,
   * `shutting_down`), or the signal's reason after an abort: what was not computed by then is dropped.
   */
  run(job: RecognitionJob, signal: AbortSignal): AsyncIterable<RecognitionEvent>;
}
