// What the process of a worker is started with, and what it tells when it serves.

import type { WorkerDevice } from "../../../ffi/llama/worker.ts";

export interface WorkerOptions {
  /** Directory with the native libraries. */
  readonly libraries: string;
  readonly threads: number;
  /** An IPv4 address of this machine. */
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Networks, `address/bits`, that may connect. */
  readonly allow: readonly string[];
  /** Names; none: the GPUs, or else the CPU. */
  readonly devices: readonly string[];
}

export interface WorkerReady {
  readonly port: number;
  readonly devices: readonly WorkerDevice[];
}

/** How the sentence about an address begins that cannot be listened on. */
export const CANNOT_LISTEN = "cannot listen on";
