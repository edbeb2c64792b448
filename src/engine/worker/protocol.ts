// What the process of a worker is started with, and what it tells when it serves.

import type { WorkerConfig, WorkerDevice } from "../../../ffi/llama/worker.ts";

export interface WorkerOptions extends Omit<WorkerConfig, "memory"> {
  /** Directory with the native libraries. */
  readonly libraries: string;
}

export interface WorkerReady {
  readonly port: number;
  readonly devices: readonly WorkerDevice[];
}

/** How the sentence about an address begins that cannot be listened on. */
export const CANNOT_LISTEN = "cannot listen on";
