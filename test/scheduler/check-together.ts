import type { KvLayout } from "../../src/domain/kv-layout.ts";
import type { StepPlan } from "../../src/scheduler/plan.ts";

/**
 * Checks a step whose rows are computed together. Throws unless the rows of each sequence are side by side, and fewer
 * cells are copied into the region of the first sequence than rows are computed for each. `cellsOf`: what a sequence
 * holds; sequences that share a cell hold the same object.
 */
export function checkTogether(
  { rows, decodeRows }: StepPlan,
  layout: KvLayout,
  cellsOf: (sequence: number) => readonly object[],
): void {
  const [first, ...others] = rows.filter(({ sequence }, at) => rows[at - 1]?.sequence !== sequence);
  if (!first || layout !== "paged" || decodeRows > 0) throw new Error("a step that cannot be computed together");
  const ids = [first, ...others].map(({ sequence }) => sequence);
  if (new Set(ids).size < ids.length) throw new Error("rows of a sequence in two places");
  const shared = new Set(cellsOf(first.sequence));
  for (const { sequence } of others) {
    const copies = cellsOf(sequence).filter((cell) => !shared.has(cell)).length;
    const own = rows.filter((row) => row.sequence === sequence).length;
    if (copies > own) throw new Error(`${copies} cells are copied to compute ${own} rows`);
  }
}
