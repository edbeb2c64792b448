// Damaged input for one parser after the other, in this very process: each case is taken or refused.

import { strict as assert } from "node:assert";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dice, type Dice } from "../support/dice.ts";

export type Verdict = "taken" | "refused";

export interface Parser {
  /** A case: a valid one, changed. */
  readonly make: (roll: Dice) => Uint8Array;
  /** Throws about whatever is neither. */
  readonly judge: (input: Uint8Array) => Promise<Verdict> | Verdict;
}

/** More than any input of these sizes is worth, with what the process had before. */
const MOST_BYTES = 2_000_000_000;

/**
 * Makes `count` cases of `seed` and judges them. Throws with the seed of the first that fails; the input of one that ends the
 * process is left in the temporary folder, as `svc-fuzz-NAME`.
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
