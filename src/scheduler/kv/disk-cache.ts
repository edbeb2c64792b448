// What leaves host memory goes to disk, and comes back from there through host memory, while others are computed.

import type { KvCommand } from "./kv-command.ts";
import type { Computed, Saved, SavedId } from "./host-entries.ts";
import { StoredPrefixes, type Stored, type StoredId } from "./prefix-index.ts";

export interface DiskLimits {
  /** Whether there is a place on disk. */
  readonly stores: boolean;
  /** Whether the model's state can be cut at any token; else what is on disk is used to its end or not at all. */
  readonly cut: boolean;
  /** What reading a token from disk takes, in milliseconds. */
  readonly loadTokenMs: number;
}

/** What saves fewer tokens is not worth a file. */
const FEWEST_STORED = 256;

export class DiskTier {
  private readonly stored = new StoredPrefixes();
  /** What is on its way to host memory. */
  private readonly loads = new Map<SavedId, StoredId>();

  constructor(
    private readonly limits: DiskLimits,
    private readonly command: (command: KvCommand) => void,
  ) {}

  /** What is on its way to host memory: its place there is taken. */
  get loading(): readonly SavedId[] {
    return [...this.loads.keys()];
  }

  /** It is on disk: since an earlier start, or by now. What it makes superfluous goes. */
  add(stored: Stored): void {
    this.stored.add(stored);
    if (!this.limits.cut) return;
    const loading = [...this.loads.values()];
    for (const id of this.stored.beginningsOf(stored.id)) if (!loading.includes(id)) this.erase(id);
  }

  /** It is not on disk any more. */
  remove(id: StoredId): void {
    if (this.stored.get(id)) this.stored.remove(id);
  }

  /** The longest beginning of the first `limit` tokens on disk. */
  find(wanted: Computed, limit: number): { readonly stored: Stored; readonly length: number } | undefined {
    return this.stored.find(wanted, limit, !this.limits.cut);
  }

  /** What reading it takes, in milliseconds. */
  loadMs({ ids }: Stored): number {
    return ids.length * this.limits.loadTokenMs;
  }

  /** Whether disk does not say nearly all of it already. */
  wants(sequence: Computed): boolean {
    const { length } = sequence.ids;
    const known = this.find(sequence, length)?.length ?? 0;
    return this.limits.stores && length - known >= FEWEST_STORED;
  }

  /** Takes what leaves host memory, if that is worth it. True if it is being written. */
  take(saved: Saved): boolean {
    const { id, ids, adapterKey, media } = saved;
    const worth = this.wants(saved);
    this.command(worth ? { type: "store", saved: id, ids, adapterKey, media } : { type: "forget", saved: id });
    return worth;
  }

  /** The place in host memory that it is being read to, or undefined. */
  placeOf(id: StoredId): SavedId | undefined {
    for (const [saved, stored] of this.loads) if (stored === id) return saved;
    return undefined;
  }

  isLoading(saved: SavedId): boolean {
    return this.loads.has(saved);
  }

  /** Begins to read it into host memory. */
  load({ id }: Stored, saved: SavedId): void {
    this.loads.set(saved, id);
    this.command({ type: "load", stored: id, saved });
  }

  /** It is in host memory now; or it could not be read, and is nowhere. */
  loaded(saved: SavedId, done: boolean): void {
    const stored = this.loads.get(saved);
    this.loads.delete(saved);
    if (!done && stored !== undefined) this.remove(stored);
  }

  /** What the model did not take would not be taken a second time. */
  distrust(sequence: Computed): void {
    const { length } = sequence.ids;
    const found = this.stored.find(sequence, length, true);
    if (found?.length === length) this.erase(found.stored.id);
  }

  private erase(id: StoredId): void {
    this.stored.remove(id);
    this.command({ type: "erase", stored: id });
  }
}
