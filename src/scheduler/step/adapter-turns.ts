// Decides which set of LoRA adapters is computed next: a decode call has one set, so requests of different sets take
// turns, step by step.

import type { Sequence } from "../sequence.ts";

export class AdapterTurns {
  /** Keys of the sets in use, the set that has waited longest first. */
  private order: string[] = [];

  /** Groups the sequences by set, the set that is due next first. New sets come last. */
  inOrder(sequences: readonly Sequence[]): Sequence[][] {
    const groups = Map.groupBy(sequences, ({ adapterKey }) => adapterKey);
    const known = this.order.filter((key) => groups.has(key));
    this.order = [...new Set([...known, ...groups.keys()])];
    return this.order.map((key) => groups.get(key) ?? []);
  }

  /** Records that a set had its step: its next turn is after all others. */
  served(key: string): void {
    this.order = [...this.order.filter((other) => other !== key), key];
  }
}
