// The memory of this machine's GPUs, in bytes.

import { GIB } from "./gib.ts";

export interface Gpu {
  readonly free: number;
  readonly total: number;
  /** Whether it computes in the machine's RAM, so that this memory is a part of it. */
  readonly isShared: boolean;
}

/** What a model takes of the memory of GPUs. */
export interface GpuClaim {
  readonly bytes: number;
  /** Whether RAM can hold what the GPUs cannot. */
  readonly orHost: boolean;
}

/** Left free on each GPU, for the driver and for buffers of unknown size: as much as llama.cpp's own fitting leaves. */
const RESERVE = GIB;

/** Returns the bytes that models may take: of what is free, or of all. */
export const usableBytes = (gpus: readonly Gpu[], of: "free" | "total" = "free"): number =>
  gpus.reduce((sum, gpu) => sum + Math.max(0, gpu[of] - RESERVE), 0);
