// What services may request of an embedding engine: one model, in a process of its own or on another server.

import type { EmbeddingKind, EmbeddingModel, EmbeddingResult, EmbeddingWork } from "../../domain/embedding.ts";
import type { EngineJob, RequestOrigin } from "../../domain/request-origin.ts";
import type { ModelStatus, Unloadable } from "../../domain/process-status.ts";

export interface EmbeddingStatus extends ModelStatus {
  readonly kind: EmbeddingKind;
  /** Longest input in tokens; absent when unknown. */
  readonly maxTokens?: number;
  /** Length of a vector, as far as the model file states it; absent when unknown. */
  readonly dimensions?: number;
  /** The model, once loaded; kept across restarts. */
  readonly model?: EmbeddingModel;
}

export type EmbeddingJob = EngineJob<EmbeddingWork>;

/** `accepted`: the job waits · `started`: its first computation begins, or is assumed to · `result`: the last event. */
export type EmbeddingEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started"; readonly isAssumed?: true }
  | { readonly type: "result"; readonly result: EmbeddingResult };

export interface EmbeddingPort extends Unloadable {
  status(): EmbeddingStatus;
  /**
   * Computes vectors or scores, after loading the model if needed. Throws SvcError (`invalid_value`,
   * `context_length_exceeded`, `engine_unavailable`, `engine_crashed`, `shutting_down`, and for models of other servers
   * the codes of upstreams), or the signal's reason after an abort: what is not computed by then is dropped.
   */
  run(work: EmbeddingWork, signal: AbortSignal, origin?: RequestOrigin): AsyncIterable<EmbeddingEvent>;
}
