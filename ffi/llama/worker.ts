// Serves this machine's devices to models on other machines, through the same library.

import { LlamaLibrary } from "./library.ts";

/** See svc_worker_start in shim.h. */
export interface WorkerConfig {
  /** An IPv4 address of this machine. */
  readonly host: string;
  /** 0 for a free port. */
  readonly port: number;
  /** Networks, `address/bits`, that may connect. */
  readonly allow: readonly string[];
  readonly threads: number;
  /** Device names; empty for the GPUs, or else the CPU. */
  readonly devices: readonly string[];
  readonly memory: number;
}

export interface WorkerDevice {
  readonly name: string;
  readonly description: string;
  /** In bytes, as is `total`. */
  readonly free: number;
  readonly total: number;
}

/** Loads the library set in `directory` and its compute backends. Throws LlamaError. */
export const openWorker = (directory: string): NativeWorker => new NativeWorker(directory);

class NativeWorker extends LlamaLibrary<never> {
  /** Listens and serves from now on; returns the port. Call it once per process. Throws LlamaError. */
  start(config: WorkerConfig): number {
    const json = this.json(config);
    return this.check(this.native.svc_worker_start(json, json.length), "be a worker");
  }

  devices(): readonly WorkerDevice[] {
    return this.readJson(this.native.svc_worker_devices, "describe the devices") as WorkerDevice[];
  }
}
