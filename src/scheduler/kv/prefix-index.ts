// What lies on disk of earlier conversations, whoever computed them. Only the bookkeeping: the files are the engine's.

import { PrefixTree } from "./prefix-tree.ts";
import type { Computed, Saved } from "./host-entries.ts";

/** Numbers what is on disk. */
export type StoredId = number;

export interface Stored extends Omit<Saved, "id"> {
  readonly id: StoredId;
}

export class StoredPrefixes {
  private readonly entries = new Map<StoredId, Stored>();
  private readonly tree = new PrefixTree();

  get(id: StoredId): Stored | undefined {
    return this.entries.get(id);
  }

  add(stored: Stored): void {
    const { id, ids, adapterKey } = stored;
    if (this.entries.has(id)) return;
    const { length, holders } = this.tree.match(adapterKey, ids, ids.length);
    this.entries.set(id, stored);
    if (holders[0]) this.tree.fork(id, holders[0].id, length);
    else this.tree.add(id, adapterKey);
    this.tree.extend(id, ids, ids.length);
  }

  remove(id: StoredId): void {
    this.entries.delete(id);
    this.tree.remove(id);
  }

  /** The longest beginning of the first `limit` tokens on disk; `whole`: only of what can be used to its end. */
  find(
    { ids, adapterKey }: Computed,
    limit: number,
    whole: boolean,
  ): { readonly stored: Stored; readonly length: number } | undefined {
    const { length, holders } = whole
      ? this.tree.matchWhole(adapterKey, ids, limit, () => true)
      : this.tree.match(adapterKey, ids, limit);
    // The shortest is read the fastest.
    const stored = this.entries.get(holders[0]?.id ?? -1);
    return stored && { stored, length };
  }

  /** Others that say no more than the beginning of this one. */
  beginningsOf(id: StoredId): StoredId[] {
    return this.tree.beginningsOf(id);
  }
}
