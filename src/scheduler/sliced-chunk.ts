// A chunk of prompts that is computed in slices, beside streams.

import { byPlace, ownerOf, type PlanRow, type StepPlan } from "./plan.ts";
import type { Key, Sequence } from "./sequence.ts";

export class SlicedChunk {
  readonly plan: StepPlan;
  /** It has had a slice. */
  begun = false;
  /** What its slices took so far, in milliseconds. */
  ms = 0;
  private readonly keys: ReadonlySet<Key>;

  constructor(rows: PlanRow[], started: readonly Key[]) {
    rows.sort(byPlace);
    const prefillRows = rows.length;
    this.plan = { rows, started, owner: ownerOf(rows), decodeRows: 0, prefillRows, guessRows: 0, steps: 1 };
    this.keys = new Set(rows.map(({ key }) => key));
  }

  /** It computes some of this prompt. */
  holds({ key }: Sequence): boolean {
    return this.keys.has(key);
  }
}
