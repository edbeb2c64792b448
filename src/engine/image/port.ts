// What services may request of an image engine: one model that draws, in a process of its own.

import type { ImageEvent, ImageModel, ImageWork } from "../../domain/image.ts";
import type { ModelStatus } from "../../domain/process-status.ts";

export interface ImageStatus extends ModelStatus {
  /** A demonstration, not a model to work with: known before it is loaded. */
  readonly isDemo?: true;
  /** Known once it was loaded. */
  readonly model?: ImageModel;
  /** Seconds that a step took lately; absent before the first one. */
  readonly stepSeconds?: number;
}

export interface ImageJob {
  readonly work: ImageWork;
  /** Whose request it is: clients take turns, an image each. */
  readonly client?: string | undefined;
}

export interface ImagePort {
  status(): ImageStatus;
  /**
   * Draws images, one after the other; loads the model first where that has to be. Throws SvcError (`invalid_value`,
   * `unsupported_parameter`, `unsupported_media_input`, `engine_unavailable`, `engine_crashed`, `shutting_down`), or the
   * signal's reason after an abort: what was not drawn by then is dropped.
   */
  run(job: ImageJob, signal: AbortSignal): AsyncIterable<ImageEvent>;
}
