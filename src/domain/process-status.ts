// The status of an engine, for listings, /health and metrics.

/**
 * `none`: there is no engine, only models of upstreams are served · `unloaded`: the next request starts the engine ·
 * `stalled`: the engine gives no sign of life; requests are refused until it does or is restarted ·
 * `failed`: requests are refused until the engine is restarted.
 */
export type ProcessState =
  "none" | "unloaded" | "starting" | "loading" | "ready" | "stalled" | "draining" | "stopped" | "failed";

/** Returns what listings say of the model of an engine in this state. */
export const loadedIn = (state: ProcessState): { readonly loaded: boolean; readonly isLoading?: true } => ({
  loaded: state === "ready",
  ...((state === "starting" || state === "loading") && { isLoading: true }),
});

export interface ProcessStatus {
  readonly state: ProcessState;
  /** Share of the weights loaded, 0 to 1, while `loading`. */
  readonly progress?: number;
  /** Milliseconds since 1970, while the process, or one of several processes, is `stalled`. */
  readonly stalledSince?: number;
  /** One sentence about the last failure: what happened and how the process ended. */
  readonly lastError?: string;
  /** Present since loading failed, until it succeeds. */
  readonly loadFails?: true;
  /** The device that computes the model, or last did. */
  readonly device?: string;
  /** How many engine processes were started because their predecessor died. */
  readonly restarts: number;
  /** Running and waiting jobs. */
  readonly running: number;
  readonly waiting: number;
  /** Resident memory of the process; 0 without a process. */
  readonly residentBytes: number;
}

/** What an engine may offer whose model is loaded on first use. */
export interface Unloadable {
  /** Unloads the model unless it is working or loading; resolves with whether it is unloaded. */
  unloadIdle?(): Promise<boolean>;
}

/** The status of an engine for one model, with what is known of the model before it is loaded. */
export interface ModelStatus extends ProcessStatus {
  /** The model name that clients see. */
  readonly modelId: string;
  /** Modification time of the model file, Unix seconds. */
  readonly created: number;
}
