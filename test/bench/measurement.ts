// What a row is: something that asks a running server, and the figures that come of it.

import type { PromptSource } from "./prompts.ts";
import type { Side } from "./server-under-test.ts";

/** Whose figures stand beside svc's: the other server, or llama.cpp's own engine benchmarks. */
export type Yardstick = Exclude<Side, "svc"> | "llama-bench" | "llama-batched-bench";

export interface Wanted {
  /** What svc's own value has to reach. */
  readonly value?: number;
  /** What the ratio in svc's favour has to reach. */
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
  /** What `--rows` selects by. */
  readonly id: string;
  run(port: number, prompts: PromptSource): Promise<readonly Figure[]>;
}
