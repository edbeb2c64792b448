// What operators see of any engine, and the metrics that all engines have.

import type { ProcessState, ProcessStatus } from "../../domain/process-status.ts";
import { counter, gauge, type Metric } from "../../telemetry/exposition.ts";

/** An engine as operators see it. */
export interface ObservedEngine {
  /** The kind of engine: `text`, `embedding`, … */
  readonly kind: string;
  readonly model: string;
  status(): ProcessStatus;
  /** Returns the engine's metrics for a scrape. */
  metrics(): readonly Metric[];
}

/** Several processes of one engine report the first of these states that any of them has. */
const STATES: readonly ProcessState[] = [
  "ready",
  "loading",
  "starting",
  "unloaded",
  "stalled",
  "failed",
  "draining",
  "stopped",
  "none",
];

/**
 * Returns the status of the processes of one engine, at least one, as if they were one process: the best state, the
 * errors, failed loads and stalls of any process, and sums.
 */
export function statusOfAll(processes: readonly { status(): ProcessStatus }[]): ProcessStatus {
  const all = processes.map((one) => one.status()).toSorted(byState);
  const [best] = all;
  if (!best) throw new Error("an engine without processes");
  const lastError = all.find((one) => one.lastError !== undefined)?.lastError;
  const loadFails = all.some((one) => one.loadFails);
  const stalledSince = all.find((one) => one.stalledSince !== undefined)?.stalledSince;
  const sum = (of: (one: ProcessStatus) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    ...best,
    ...(lastError !== undefined && { lastError }),
    ...(loadFails && { loadFails }),
    ...(stalledSince !== undefined && { stalledSince }),
    restarts: sum(({ restarts }) => restarts),
    running: sum(({ running }) => running),
    waiting: sum(({ waiting }) => waiting),
    residentBytes: sum(({ residentBytes }) => residentBytes),
  };
}

const byState = (a: ProcessStatus, b: ProcessStatus) => STATES.indexOf(a.state) - STATES.indexOf(b.state);

/** Returns the metrics that every engine has. */
export function processMetrics(status: ProcessStatus): Metric[] {
  const { state, loadFails = false, stalledSince, restarts, running, waiting, residentBytes } = status;
  const up = !loadFails && (state === "ready" || state === "unloaded");
  const stalled = stalledSince === undefined ? 0 : 1;
  return [
    gauge("svc_num_requests_running", "Requests that are being computed.", running),
    gauge("svc_num_requests_waiting", "Accepted requests that wait for their turn.", waiting),
    gauge(
      "svc_engine_up",
      "1 while the engine is ready, or unloaded and its last load (if any) succeeded; otherwise 0.",
      up ? 1 : 0,
    ),
    gauge("svc_engine_stalled", "1 while an engine process gives no sign of life.", stalled),
    counter("svc_engine_restarts_total", "Engine processes that were started because the previous one died.", restarts),
    gauge(
      "svc_engine_resident_memory_bytes",
      "Resident memory of the engine process; 0 if there is none.",
      residentBytes,
    ),
  ];
}
