// What any engine says of itself, for listings, /health and metrics.

import { counter, gauge, type Metric } from "../../telemetry/exposition.ts";

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

/** An engine as operators see it. */
export interface ObservedEngine {
  /** The kind of engine: `text`, `embedding`, … */
  readonly kind: string;
  readonly model: string;
  status(): ProcessStatus;
  /** What a scrape reads. */
  metrics(): readonly Metric[];
}

/** The metrics of every engine. */
export function processMetrics(status: ProcessStatus): Metric[] {
  const { state, stalledSince, restarts, running, waiting, residentBytes } = status;
  const up = state === "ready" || state === "unloaded";
  const stalled = stalledSince === undefined ? 0 : 1;
  return [
    gauge("svc_num_requests_running", "Requests that are computed.", running),
    gauge("svc_num_requests_waiting", "Accepted requests that wait for their turn.", waiting),
    gauge("svc_engine_up", "1 while the engine is ready, or unloaded until its next request.", up ? 1 : 0),
    gauge("svc_engine_stalled", "1 while an engine process gives no sign of life.", stalled),
    counter("svc_engine_restarts_total", "Engine processes started because their predecessor died.", restarts),
    gauge("svc_engine_resident_memory_bytes", "Memory of the engine process; 0 without one.", residentBytes),
  ];
}
