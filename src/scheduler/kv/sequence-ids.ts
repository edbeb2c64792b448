// Chooses the sequence id of the KV cache for a request that does not take over a sequence: if possible an unused id.

import type { SchedulerLimits } from "../limits.ts";
import { FEWEST_OFFLOADED, type HostCache } from "./host-cache.ts";
import type { IdleSequences } from "./idle-sequences.ts";
import { liesApart } from "../../domain/kv-layout.ts";
import type { PrefixTree } from "./prefix-tree.ts";

export class SequenceIds {
  constructor(
    private readonly limits: SchedulerLimits,
    private readonly tree: PrefixTree,
    private readonly idle: IdleSequences,
    /** Running sequences by id. */
    private readonly running: ReadonlyMap<number, unknown>,
    private readonly host: HostCache,
  ) {}

  /** Returns the lowest unused id, so that ids stay compact; undefined when all are in use. */
  unused(): number | undefined {
    for (let id = 0; id < this.limits.sequences; id++) if (!this.tree.has(id)) return id;
    return undefined;
  }

  /** Returns the idle sequence whose loss costs the least. Each loss frees one id, so short sequences go first. */
  leastValuable(now: number, except?: number): number | undefined {
    return this.idle.leastValuable(now, (id) => (id === except ? 0 : Math.max(1, this.tree.exclusive(id))));
  }

  /** Returns the id for the next request; an idle sequence may still hold it. Throws when all sequences are running. */
  next(now: number, except?: number): number {
    const id = this.neighbour(except) ?? this.unused() ?? this.leastValuable(now, except);
    if (id === undefined) throw new Error("every sequence is running");
    return id;
  }

  /**
   * Returns an id next to a running one. In layouts where sequences lie apart, each gap between ids splits a step into
   * one more piece. Never returns the id of a long sequence that cannot be offloaded.
   */
  private neighbour(except?: number): number | undefined {
    if (!liesApart(this.limits.layout) || this.running.size === 0) return undefined;
    const cheap = (id: number) =>
      this.tree.exclusive(id) < FEWEST_OFFLOADED || this.host.affords(this.tree.lengthOf(id));
    const beside = [...this.running.keys()].flatMap((id) => [id - 1, id + 1]);
    const free = beside.filter((id) => id >= 0 && id < this.limits.sequences && !this.running.has(id) && id !== except);
    const rank = (id: number) => (this.tree.has(id) ? this.limits.sequences : 0) + id;
    return free.filter(cheap).toSorted((a, b) => rank(a) - rank(b))[0];
  }
}
