// Finds the prefixes in one tier below the KV cache by their tokens. The host cache and the disk cache have an index
// each. The KV cache itself uses the tree directly, because its sequences grow.

import { commonLength } from "../common-length.ts";
import type { MediaSpan } from "../media-span.ts";
import { PrefixTree } from "./prefix-tree.ts";

/** Tokens, and the adapters that compute them. */
export interface Computed {
  readonly ids: Int32Array;
  /** Key of the LoRA adapters, derived from their files. */
  readonly adapterKey: string;
}

/** Tokens, with the media among them. */
export interface Prefix extends Computed {
  readonly media: readonly MediaSpan[];
}

/** A prefix whose keys and values are in a cache. */
export interface CachedPrefix extends Prefix {
  /** Its number in its cache. */
  readonly id: number;
}

/** Returns whether `a` is a prefix of `b` and the same adapters compute both. */
export const isPrefix = (a: Computed, b: Computed): boolean =>
  a.adapterKey === b.adapterKey && commonLength(a.ids, b.ids, b.ids.length) === a.ids.length;

/** A cached prefix, and how many of the wanted tokens it holds. */
export interface Found {
  readonly entry: CachedPrefix;
  readonly length: number;
}

export class PrefixIndex {
  private readonly entries = new Map<number, CachedPrefix>();
  private readonly tree = new PrefixTree();

  get(id: number): CachedPrefix | undefined {
    return this.entries.get(id);
  }

  add(entry: CachedPrefix): void {
    const { id, ids, adapterKey } = entry;
    if (this.entries.has(id)) return;
    const { length, holders } = this.tree.match(adapterKey, ids, ids.length);
    this.entries.set(id, entry);
    if (holders[0]) this.tree.fork(id, holders[0].id, length);
    else this.tree.add(id, adapterKey);
    this.tree.extend(id, ids, ids.length);
  }

  /** Removes an entry; ignores an unknown id. */
  remove(id: number): void {
    this.entries.delete(id);
    this.tree.remove(id);
  }

  /**
   * Returns the entry that shares most of the first `limit` tokens; of several, the shortest. `whole`: only an entry that
   * matches to its end.
   */
  find({ ids, adapterKey }: Computed, limit: number, whole: boolean): Found | undefined {
    const { length, holders } = whole
      ? this.tree.matchWhole(adapterKey, ids, limit, () => true)
      : this.tree.match(adapterKey, ids, limit);
    const [best] = holders;
    const entry = best && this.entries.get(best.id);
    return entry && { entry, length };
  }

  /** Returns the ids of the other entries that are prefixes of this one. */
  prefixesOf(id: number): number[] {
    return this.tree.prefixesOf(id);
  }
}
