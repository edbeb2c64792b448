// Whose turn it is to be computed: a decode call has one set of LoRA adapters, so requests of different sets take turns,
// step by step.

import type { Sequence } from "../sequence.ts";

export class AdapterTurns {
  /** Keys of the sets that are in use, the one that has waited longest first. */
  private order: string[] = [];

  /** The sequences by their sets, in the order in which these are to be served. Sets that are new come last. */
  inOrder(sequences: readonly Sequence[]): Sequence[][] {
    const groups = Map.groupBy(sequences, ({ adapterKey }) => adapterKey);
    const known = this.order.filter((key) => groups.has(key));
    this.order = [...new Set([...known, ...groups.keys()])];
    return this.order.map((key) => groups.get(key) ?? []);
  }

  /** A set was served. */
  served(key: string): void {
    this.order = [...this.order.filter((other) => other !== key), key];
  }
}
