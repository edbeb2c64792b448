// Options of a worker's process, and what it reports once it serves.

import type { WorkerConfig, WorkerDevice } from "../../../ffi/llama/worker.ts";

export interface WorkerOptions extends Omit<WorkerConfig, "memory"> {
  /** Directory with the native libraries. */
  readonly libraries: string;
}

export interface WorkerReady {
  readonly port: number;
  readonly devices: readonly WorkerDevice[];
}

/** Start of the sentence about an address on which the worker cannot listen. */
export const CANNOT_LISTEN = "cannot listen on";
