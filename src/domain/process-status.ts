// What any engine says of itself, for listings, /health and metrics.

/**
 * `none`: there is no engine, only other servers' models are served · `unloaded`: the next request starts it ·
 * `stalled`: it gives no sign of life, and requests are refused until it does or is restarted ·
 * `failed`: requests are refused until it is restarted.
 */
export type ProcessState =
  "none" | "unloaded" | "starting" | "loading" | "ready" | "stalled" | "draining" | "stopped" | "failed";

export interface ProcessStatus {
  readonly state: ProcessState;
  /** Share of the weights loaded, 0 to 1, while `loading`. */
  readonly progress?: number;
  /** Milliseconds since 1970, while it, or one of several processes, is `stalled`. */
  readonly stalledSince?: number;
  /** One sentence about the last failure: what happened and how the process ended. */
  readonly lastError?: string;
  /** Where the model computes, or did before. */
  readonly device?: string;
  /** Engine processes started because their predecessor died. */
  readonly restarts: number;
  /** Jobs that are computed, and those that wait for it. */
  readonly running: number;
  readonly waiting: number;
  /** Resident memory of the process; 0 without one. */
  readonly residentBytes: number;
}

/** Of an engine for one model: what is known of that from the start. */
export interface ModelStatus extends ProcessStatus {
  /** The name that clients see. */
  readonly modelId: string;
  /** Unix seconds of the last change of its file. */
  readonly created: number;
}
