// Which id of the KV cache a request gets where it goes on from nobody's sequence: mostly one that is not in use.

import type { IdleSequences } from "./idle-sequences.ts";
import type { PrefixTree } from "./prefix-tree.ts";
import { FEWEST_SAVED, type Spill } from "./host-cache.ts";

export interface IdLimits {
  /** Unified: all sequences divide the cells, and share what they have in common. Streams: each has a fixed share. */
  readonly layout: "unified" | "streams";
  /** Sequence ids; at least as many as requests may run. */
  readonly sequences: number;
}

export class SequenceIds {
  constructor(
    private readonly limits: IdLimits,
    private readonly tree: PrefixTree,
    private readonly idle: IdleSequences,
    /** By their ids. */
    private readonly running: ReadonlyMap<number, unknown>,
    private readonly spill: Spill,
  ) {}

  /** The lowest id that is not in use, so that ids stay compact. */
  unused(): number | undefined {
    for (let id = 0; id < this.limits.sequences; id++) if (!this.tree.has(id)) return id;
    return undefined;
  }

  /** The idle one whose loss costs the least: an id is worth the same whatever its sequence holds. */
  leastValuable(now: number, except?: number): number | undefined {
    return this.idle.leastValuable(now, (id) => (id === except ? 0 : Math.max(1, this.tree.exclusive(id))));
  }

  /** The one for the next request, which may hold an idle sequence yet. Throws when all are running. */
  next(now: number, except?: number): number {
    const id = this.neighbour(except) ?? this.unused() ?? this.leastValuable(now, except);
    if (id === undefined) throw new Error("every sequence is running");
    return id;
  }

  /**
   * An id next to the running ones: a step of the stream layout is computed in as many pieces as the ids have gaps. Not one
   * whose tokens are many and would be lost.
   */
  private neighbour(except?: number): number | undefined {
    if (this.limits.layout === "unified" || this.running.size === 0) return undefined;
    const cheap = (id: number) => this.tree.exclusive(id) < FEWEST_SAVED || this.spill.affords(this.tree.lengthOf(id));
    const beside = [...this.running.keys()].flatMap((id) => [id - 1, id + 1]);
    const free = beside.filter((id) => id >= 0 && id < this.limits.sequences && !this.running.has(id) && id !== except);
    const rank = (id: number) => (this.tree.has(id) ? this.limits.sequences : 0) + id;
    return free.filter(cheap).toSorted((a, b) => rank(a) - rank(b))[0];
  }
}
