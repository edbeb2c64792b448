// The disk cache: which prefixes the host cache evicts to disk, and which come back from there. They come back through the
// host cache while other requests are computed. Only the bookkeeping: the files are the engine's.

import type { HostId } from "./host-entries.ts";
import type { KvCommand } from "./kv-command.ts";
import { PrefixIndex, type CachedPrefix, type Computed, type Found } from "./prefix-index.ts";

/** Numbers the entries. */
export type DiskId = number;

export interface DiskLimits {
  /** Whether there is a disk cache. */
  readonly hasDisk: boolean;
  /** Whether the model's state can be trimmed at any token; else an entry is used to its end or not at all. */
  readonly canTrim: boolean;
  /** What reading a token from disk takes, in milliseconds. */
  readonly readTokenMs: number;
}

/** Fewer new tokens are not worth a file. */
const FEWEST_WRITTEN = 256;

export class DiskCache {
  private readonly index = new PrefixIndex("shortest");
  /** Entries that are being read, by their places in the host cache. */
  private readonly reads = new Map<HostId, DiskId>();

  constructor(
    private readonly limits: DiskLimits,
    private readonly command: (command: KvCommand) => void,
  ) {}

  /** Places in the host cache that are being filled from disk: nothing else may take them. */
  get reading(): readonly HostId[] {
    return [...this.reads.keys()];
  }

  /** An entry is on disk: it was found at the start or has been written. Entries that are prefixes of it are deleted. */
  add(entry: CachedPrefix): void {
    this.index.add(entry);
    if (!this.limits.canTrim) return;
    const reading = [...this.reads.values()];
    for (const id of this.index.prefixesOf(entry.id)) if (!reading.includes(id)) this.delete(id);
  }

  /** An entry is gone from disk. */
  remove(id: DiskId): void {
    this.index.remove(id);
  }

  /** The entry that shares most of the first `limit` tokens; of several, the one that is read the fastest. */
  find(wanted: Computed, limit: number): Found | undefined {
    return this.index.find(wanted, limit, !this.limits.canTrim);
  }

  /** What reading an entry takes, in milliseconds. */
  readMs({ ids }: Computed): number {
    return ids.length * this.limits.readTokenMs;
  }

  /** Whether a sequence has enough tokens that no entry holds. */
  wants(sequence: Computed): boolean {
    const { length } = sequence.ids;
    const known = this.find(sequence, length)?.length ?? 0;
    return this.limits.hasDisk && length - known >= FEWEST_WRITTEN;
  }

  /** Takes over what the host cache gives up: writes it if that is worth it, else drops it. True if it is being written. */
  take(evicted: CachedPrefix): boolean {
    const { id: hostId, ids, adapterKey, media } = evicted;
    const writes = this.wants(evicted);
    this.command(writes ? { type: "write", hostId, ids, adapterKey, media } : { type: "drop", hostId });
    return writes;
  }

  /** The place in the host cache that an entry is being read to, or undefined. */
  placeOf(id: DiskId): HostId | undefined {
    for (const [hostId, diskId] of this.reads) if (diskId === id) return hostId;
    return undefined;
  }

  isReading(hostId: HostId): boolean {
    return this.reads.has(hostId);
  }

  /** Begins to read an entry into the host cache. */
  read({ id: diskId }: CachedPrefix, hostId: HostId): void {
    this.reads.set(hostId, diskId);
    this.command({ type: "read", diskId, hostId });
  }

  /** Reading has ended; an entry that could not be read is gone. */
  readEnded(hostId: HostId, done: boolean): void {
    const diskId = this.reads.get(hostId);
    this.reads.delete(hostId);
    if (!done && diskId !== undefined) this.remove(diskId);
  }

  /** The file of exactly this sequence is of no more use: it is deleted. */
  forget(sequence: Computed): void {
    const { length } = sequence.ids;
    const found = this.index.find(sequence, length, true);
    if (found?.length === length) this.delete(found.entry.id);
  }

  private delete(diskId: DiskId): void {
    this.remove(diskId);
    this.command({ type: "delete", diskId });
  }
}
