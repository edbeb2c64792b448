import type { KvLayout } from "../../src/domain/kv-layout.ts";
import type { StepPlan } from "../../src/scheduler/plan.ts";

/**
 * Checks a step whose rows are computed together. Throws unless its sequences can be computed in the region of one of them
 * with no more cells copied into it than rows computed. `cellsOf`: what a sequence holds; sequences that share a cell hold
 * the same object.
 */
export function checkTogether(
  { rows, decodeRows }: StepPlan,
  layout: KvLayout,
  cellsOf: (sequence: number) => readonly object[],
): void {
  if (layout !== "paged" || decodeRows > 0) throw new Error("a step that cannot be computed together");
  const held = [...new Set(rows.map(({ sequence }) => sequence))].map((sequence) => new Set(cellsOf(sequence)));
  if (held.length < 2) throw new Error("one sequence together with itself");
  const copies = held.map((host) => held.reduce((sum, cells) => sum + cells.difference(host).size, 0));
  if (Math.min(...copies) > rows.length) throw new Error(`${copies} cells are copied to compute ${rows.length} rows`);
}
