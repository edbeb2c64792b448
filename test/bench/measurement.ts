// A row: requests to a running server, and the figures that result.

import type { PromptSource } from "./prompts.ts";
import type { Side } from "./server-under-test.ts";

/** The programs whose figures are compared with svc's: the other server, or llama.cpp's own engine benchmarks. */
export type Yardstick = Exclude<Side, "svc"> | "llama-bench" | "llama-batched-bench";

export interface Wanted {
  /** The value that svc itself must reach. */
  readonly value?: number;
  /** The ratio in svc's favour that must be reached. */
  readonly ratio?: Readonly<Partial<Record<Yardstick, number>>>;
}

export interface Figure {
  readonly label: string;
  readonly unit: "ms" | "s" | "tok/s" | "req/s" | "MB" | "%" | "requests" | "times";
  readonly better: "higher" | "lower";
  readonly value: number;
  readonly wanted?: Wanted;
}

export interface Measurement {
  /** The name for `--rows`. */
  readonly id: string;
  run(port: number, prompts: PromptSource): Promise<readonly Figure[]>;
}
