// Damaged input for each parser in turn, in this process: each case must be accepted or refused.

import { strict as assert } from "node:assert";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dice, type Dice } from "../support/dice.ts";

export type Verdict = "taken" | "refused";

export interface Parser {
  /** Returns a case: a valid input with changes. */
  readonly make: (roll: Dice) => Uint8Array;
  /** Throws when the input is neither accepted nor refused properly. */
  readonly judge: (input: Uint8Array) => Promise<Verdict> | Verdict;
}

/** More memory than any such input should need, including what the process used before. */
const MOST_BYTES = 2_000_000_000;

/**
 * Creates `count` cases of `seed` and judges them. Throws with the seed of the first failure. When a case ends the
 * process, its input is left in the temporary folder as `svc-fuzz-NAME`.
 */
export async function fuzzParser(
  name: string,
  { make, judge }: Parser,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<Readonly<Record<Verdict, number>>> {
  const kept = join(tmpdir(), `svc-fuzz-${name}`);
  const verdicts = { taken: 0, refused: 0 };
  for (let index = 0; index < count; index++) {
    const own = (seed * 1_000_003 + index) | 0;
    const input = make(dice(own));
    writeFileSync(kept, input);
    try {
      verdicts[await judge(input)]++;
    } catch (error) {
      const text = Buffer.from(input).toString("latin1").slice(0, 1000);
      throw new Error(`case ${own}, ${kept}: ${error instanceof Error ? error.message : String(error)}\n${text}`);
    }
  }
  rmSync(kept);
  const resident = process.memoryUsage.rss();
  assert(resident < MOST_BYTES, `${resident} bytes are resident`);
  return verdicts;
}
