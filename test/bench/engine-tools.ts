// llama.cpp's own benchmarks of the engine alone: the most that a server with the same libraries could reach.

import { decodeLabel } from "./rows/decode.ts";
import type { Figure, Yardstick } from "./measurement.ts";
import type { Side } from "./server-under-test.ts";

export interface Tool {
  readonly name: Exclude<Yardstick, Side>;
  /** The name for `--rows`, the same as that of the rows to compare with. */
  readonly id: string;
  /** Options in addition to those shared with the servers: model, threads, batch and attention. */
  arguments(ctx: number): readonly string[];
  /** Returns figures with the labels of the rows. */
  read(stdout: string): readonly Figure[];
}

const rate = (streams: number, value: number): Figure => ({
  label: decodeLabel(streams),
  unit: "tok/s",
  better: "higher",
  value,
});

/** Measures a single sequence: `tokens` tokens after a prompt of `depth`. */
export const llamaBench = (depth: number, tokens: number): Tool => ({
  name: "llama-bench",
  id: "decode",
  arguments: () => `-p 0 -n ${tokens} -d ${depth} -r 1 -fa 1 -o json`.split(" "),
  read: (stdout) => {
    const runs = JSON.parse(stdout) as { avg_ts: number }[];
    return runs.map(({ avg_ts }) => rate(1, avg_ts));
  },
});

/** Measures several sequences in one batch, each with its own KV stream: `tokens` tokens after prompts of `prompt`. */
export const batchedBench = (batches: readonly number[], prompt: number, tokens: number): Tool => ({
  name: "llama-batched-bench",
  id: "aggregate",
  arguments: (ctx) =>
    // One more batch at the end, because the program may exit before it has written its last line.
    `-c ${ctx} -npp ${prompt} -ntg ${tokens} -npl ${batches.join(",")},1 -fa on --output-format jsonl`.split(" "),
  read: (stdout) => {
    const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
    const runs = lines.map((line) => JSON.parse(line) as { pl: number; speed_tg: number });
    return batches.map((streams) => {
      const run = runs.find(({ pl }) => pl === streams);
      if (!run) throw new Error(`llama-batched-bench wrote nothing about ${streams} sequences`);
      return rate(streams, run.speed_tg);
    });
  },
});
