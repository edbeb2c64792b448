// The cost of a step on machines that are not available, fitted to measurements.

import type { Cost } from "../scheduler/fake-engine.ts";

export interface Machine {
  readonly name: string;
  readonly cost: Cost;
  readonly batch: number;
  /** Rows of a chunk that can be paused. */
  readonly chunk: number;
  readonly cells: number;
  readonly parallel: number;
}

/** Two cores and 0.6 B parameters: 43 ms for one row, 175 ms for 8, about 6 ms per prompt token. */
export const smallCpu: Machine = {
  name: "2 cores, 0.6 B",
  cost: (decodeRows, prefillRows) => 22 + decodeRows * 19 + prefillRows * 6,
  batch: 512,
  chunk: 128,
  cells: 32_768,
  parallel: 8,
};

/**
 * A large GPU and 8 B parameters: steps are bound by the weights, and prompts run at about 12,000 tokens per second.
 */
export const largeGpu: Machine = {
  name: "large GPU, 8 B",
  cost: (decodeRows, prefillRows, cells) => 6 + decodeRows * 0.03 + prefillRows * 0.085 + cells * 0.00002,
  batch: 2048,
  chunk: 0,
  cells: 400_000,
  parallel: 64,
};
