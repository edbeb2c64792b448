// Chooses the sequence id of the KV cache for a request that does not take over a sequence: if possible an unused id.
// Where sequences lie apart, each gap between the ids of a step splits it into one more piece.

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

  /**
   * Returns the id for the next request, which these adapters compute; an idle sequence may still hold it. Throws when
   * all sequences are running.
   */
  next(adapterKey: string, now: number, except?: number): number {
    const id = this.neighbour(adapterKey, except) ?? this.unused() ?? this.leastValuable(now, except);
    if (id === undefined) throw new Error("every sequence is running");
    return id;
  }

  /**
   * Returns an id next to a running sequence of the same adapters, which steps compute with it; without one, the id
   * that leaves most room to those of other adapters. Never returns the id of a long sequence that cannot be offloaded.
   */
  private neighbour(adapterKey: string, except?: number): number | undefined {
    if (!liesApart(this.limits.layout) || this.running.size === 0) return undefined;
    const cheap = (id: number) =>
      this.tree.exclusive(id) < FEWEST_OFFLOADED || this.host.affords(this.tree.lengthOf(id));
    const ids = Array.from({ length: this.limits.sequences }, (_, id) => id);
    const free = ids.filter((id) => !this.running.has(id) && id !== except && cheap(id));
    const isOwn = (id: number) => this.running.has(id) && this.tree.adapterKeyOf(id) === adapterKey;
    const beside = free.filter((id) => isOwn(id - 1) || isOwn(id + 1));
    if (beside.length > 0) return this.preferUnused(beside)[0];
    const others = [...this.running.keys()].filter((id) => !isOwn(id));
    if (others.length === 0) return undefined;
    const room = (id: number) => Math.min(...others.map((other) => Math.abs(other - id)));
    return this.preferUnused(free).toSorted((a, b) => room(b) - room(a) || a - b)[0];
  }

  /** Returns the unused ones among ids, or all if each is in use. */
  private preferUnused(ids: readonly number[]): readonly number[] {
    const unused = ids.filter((id) => !this.tree.has(id));
    return unused.length > 0 ? unused : ids;
  }
}
