// What services may ask of an embedding engine: one model, in a process of its own that starts when it is first needed,
// or on another server.

import type { EmbeddingKind, EmbeddingModel, EmbeddingResult, EmbeddingWork } from "../../domain/embedding.ts";

export interface EmbeddingStatus {
  readonly modelId: string;
  readonly kind: EmbeddingKind;
  /** Unix seconds of the model file's last change. */
  readonly created: number;
  /** Longest input in tokens; absent: not known. */
  readonly maxTokens?: number;
  /** Numbers of a vector as far as the file tells; absent: not known. */
  readonly dimensions?: number;
  /** `unloaded` until the first request, and after a crash until the next one. */
  readonly state: "unloaded" | "loading" | "ready" | "failed" | "stopped";
  /** The model, once loaded; kept through a restart. */
  readonly model?: EmbeddingModel;
  readonly lastError?: string;
  /** Engine processes started after the first. */
  readonly restarts: number;
}

/** Where work comes from, for who passes it on. */
export interface EmbeddingOrigin {
  /** Correlation id of the request. */
  readonly id: string;
  /** Another svc passed the request on. */
  readonly forwarded?: boolean;
}

export interface EmbeddingPort {
  status(): EmbeddingStatus;
  /**
   * Computes vectors or scores; loads the model first where that has to be. Throws SvcError (`invalid_value`,
   * `context_length_exceeded`, `engine_unavailable`, `engine_crashed`, `shutting_down`, for other servers' models the codes of
   * upstreams), or the signal's reason after an
   * abort: what was not computed by then is dropped.
   */
  run(work: EmbeddingWork, signal: AbortSignal, origin?: EmbeddingOrigin): Promise<EmbeddingResult>;
  /** Ends the process; resolves when it is gone. */
  stop(): Promise<void>;
}
