// Bursts of short unrelated prompts, round after round, from a simple client in Python: the end-to-end speed of a
// batch job or a crowd of clients.

import { join } from "node:path";
import type { Measurement, Wanted } from "../measurement.ts";
import { median } from "../stats.ts";

export interface Bursts {
  /** The name for `--rows`, when a scenario has several. */
  readonly id?: string;
  readonly rounds: number;
  /** Concurrent requests. */
  readonly requests: number;
  readonly promptTokens: number;
  readonly maxTokens: number;
}

/** The client's output for a round: seconds, and tokens per second. */
interface Round {
  readonly rate: number;
  readonly first: number;
  readonly p99: number;
  readonly pieces: number;
  readonly tokens: number;
}

const CLIENT = join(import.meta.dir, "bursts.py");

/** Throws with the client's output when it fails, and when there is no `python3`. */
async function askFrom(port: number, { rounds, requests, promptTokens, maxTokens }: Bursts): Promise<Round[]> {
  const python = Bun.which("python3") ?? fail("the client of this row needs python3");
  const numbers = [port, rounds, requests, promptTokens, maxTokens].map(String);
  const child = Bun.spawn([python, CLIENT, ...numbers], { stdout: "pipe", stderr: "pipe" });
  const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) fail(`the client failed: ${complaint.slice(-1000)}`);
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Round);
}

function fail(reason: string): never {
  throw new Error(reason);
}

/** `wanted` is for the rate over all rounds. */
export function bursts(shape: Bursts, wanted: Wanted = { ratio: { "llama-server": 1 } }): Measurement {
  const { rounds, requests, promptTokens, maxTokens } = shape;
  const what = `bursts of ${requests} prompts of ${promptTokens} tokens, ${maxTokens} out`;
  return {
    id: shape.id ?? "bursts",
    async run(port) {
      const seen = await askFrom(port, shape);
      const of = (read: (round: Round) => number, from: readonly Round[] = seen) => median(from.map(read));
      const half = Math.floor(rounds / 2);
      const early = of(({ rate }) => rate, seen.slice(0, half));
      const late = of(({ rate }) => rate, seen.slice(half));
      return [
        {
          label: `${what}, all of ${rounds} rounds`,
          unit: "tok/s",
          better: "higher",
          value: of(({ rate }) => rate),
          wanted,
        },
        {
          label: `${what}, the later half of the rounds against the earlier one`,
          unit: "times",
          better: "higher",
          value: late / early,
          wanted: { value: 0.98 },
        },
        {
          label: `${what}, slowest first token of a round`,
          unit: "ms",
          better: "lower",
          value: 1000 * of(({ first }) => first),
          wanted: { ratio: { "llama-server": 1 } },
        },
        {
          label: `${what}, pause between pieces of text, p99`,
          unit: "ms",
          better: "lower",
          value: 1000 * of(({ p99 }) => p99),
          wanted: { ratio: { "llama-server": 1 / 1.5 } },
        },
        {
          label: `${what}, tokens in a piece of text`,
          unit: "times",
          better: "lower",
          value: of(({ tokens, pieces }) => tokens / pieces),
        },
      ];
    },
  };
}
