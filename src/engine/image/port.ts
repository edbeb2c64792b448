// What services may request of an image engine: one model that draws, in a process of its own.

import type { ImageEvent, ImageModel, ImageWork } from "../../domain/image.ts";
import type { ModelStatus, Unloadable } from "../../domain/process-status.ts";
import type { EngineJob } from "../../domain/request-origin.ts";

export interface ImageStatus extends ModelStatus {
  /** Whether the model is a demonstration and not meant for work; known before it is loaded. */
  readonly isDemo?: true;
  /** Absent until the model was loaded. */
  readonly model?: ImageModel;
  /** Moving average of the seconds that a step takes; absent before the first measurement. */
  readonly stepSeconds?: number;
}

/** Clients take turns, one image each. */
export type ImageJob = EngineJob<ImageWork>;

export interface ImagePort extends Unloadable {
  status(): ImageStatus;
  /** Milliseconds until a place is free, if known. */
  placeFreeMs?(): number | undefined;
  /**
   * Draws images one after another, after loading the model if needed. Throws SvcError (`invalid_value`,
   * `unsupported_parameter`, `unsupported_media_input`, `engine_unavailable`, `engine_crashed`, `shutting_down`), or
   * the signal's reason after an abort: what is not drawn by then is dropped.
   */
  run(job: ImageJob, signal: AbortSignal): AsyncIterable<ImageEvent>;
}
