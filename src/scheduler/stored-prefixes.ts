// What lies on disk of earlier conversations, whoever computed them. Only the bookkeeping: the files are the engine's.

import type { MediaSpan } from "./media-span.ts";
import { PrefixTree } from "./prefix-tree.ts";

/** Numbers what is on disk. */
export type StoredId = number;

export interface Stored {
  readonly id: StoredId;
  /** Its tokens: all of them. */
  readonly ids: Int32Array;
  readonly media: readonly MediaSpan[];
}

export class StoredPrefixes {
  private readonly entries = new Map<StoredId, Stored>();
  private readonly tree = new PrefixTree();

  get(id: StoredId): Stored | undefined {
    return this.entries.get(id);
  }

  add(stored: Stored): void {
    const { id, ids } = stored;
    if (this.entries.has(id)) return;
    const { length, holders } = this.tree.match(ids, ids.length);
    this.entries.set(id, stored);
    this.tree.add(id, holders[0]?.id ?? -1, length);
    this.tree.extend(id, ids, ids.length);
  }

  remove(id: StoredId): void {
    this.entries.delete(id);
    this.tree.remove(id);
  }

  /** The longest beginning of `ids[0..limit)` on disk; `whole`: only of what can be used to its end. */
  find(
    ids: Int32Array,
    limit: number,
    whole: boolean,
  ): { readonly stored: Stored; readonly length: number } | undefined {
    const { length, holders } = whole ? this.tree.matchWhole(ids, limit, () => true) : this.tree.match(ids, limit);
    // The shortest is read the fastest.
    const stored = this.entries.get(holders[0]?.id ?? -1);
    return stored && { stored, length };
  }

  /** Others that say no more than the beginning of this one. */
  beginningsOf(id: StoredId): StoredId[] {
    return this.tree.beginningsOf(id);
  }
}
