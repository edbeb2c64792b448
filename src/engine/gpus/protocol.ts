// What the process that reads the GPUs is given, and what it reports.

import type { Gpu } from "../../domain/gpu.ts";

export interface GpuOptions {
  /** Directory with the native libraries. */
  readonly libraries: string;
}

export interface GpuReport {
  /** Those on which llama.cpp computes. */
  readonly gpus: readonly Gpu[];
}
