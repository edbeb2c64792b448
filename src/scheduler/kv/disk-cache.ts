// The disk cache: which prefixes the host cache evicts to disk, and which are read back. They are read back into the
// host cache while other requests are computed. This is only the bookkeeping: the engine owns the files.

import type { SchedulerLimits } from "../limits.ts";
import type { Evicted, HostId } from "./host-entries.ts";
import type { KvCommand } from "./kv-command.ts";
import { PrefixIndex, type CachedPrefix, type Computed, type Found } from "./prefix-index.ts";

/** Number of an entry. */
export type DiskId = number;

/** Fewer new tokens than this are not worth a file. */
const FEWEST_WRITTEN = 256;

export class DiskCache {
  private readonly index = new PrefixIndex();
  /** Entries that are being read, by the id of the host cache entry that they are read into. */
  private readonly reads = new Map<HostId, DiskId>();

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly command: (command: KvCommand) => void,
  ) {}

  /** Host cache entries that are being filled from disk: they must not be evicted. */
  get reading(): readonly HostId[] {
    return [...this.reads.keys()];
  }

  /** Adds an entry that is on disk: found at start or just written. Deletes entries that are prefixes of it. */
  add(entry: CachedPrefix): void {
    this.index.add(entry);
    if (!this.limits.canTrim) return;
    const reading = [...this.reads.values()];
    for (const id of this.index.prefixesOf(entry.id)) if (!reading.includes(id)) this.delete(id);
  }

  /** Removes an entry that is no longer on disk. */
  remove(id: DiskId): void {
    this.index.remove(id);
  }

  /** Returns the entry that shares most of the first `limit` tokens; of several, the shortest. */
  find(wanted: Computed, limit: number): Found | undefined {
    return this.index.find(wanted, limit, !this.limits.canTrim);
  }

  /** Returns the milliseconds to read an entry. */
  readMs({ ids }: Computed): number {
    return ids.length * this.limits.readTokenMs;
  }

  /**
   * Returns whether a sequence has enough tokens that no entry holds to be worth writing. A preempted request is not
   * resumed from disk, so one in the background leaves nothing for it.
   */
  wants(sequence: Evicted): boolean {
    const { length } = sequence.ids;
    const known = this.find(sequence, length)?.length ?? 0;
    return this.limits.hasDisk && !sequence.passing && length - known >= FEWEST_WRITTEN;
  }

  /** Takes over a prefix that the host cache evicts: writes it if it is worth that (returns true), else drops it. */
  take(evicted: Evicted): boolean {
    const { id: hostId, ids, adapterKey, media, at } = evicted;
    const writes = this.wants(evicted);
    this.command(writes ? { type: "write", hostId, ids, adapterKey, media, at } : { type: "drop", hostId });
    return writes;
  }

  /** Returns the host cache entry that an entry is being read into; undefined when it is not being read. */
  placeOf(id: DiskId): HostId | undefined {
    for (const [hostId, diskId] of this.reads) if (diskId === id) return hostId;
    return undefined;
  }

  isReading(hostId: HostId): boolean {
    return this.reads.has(hostId);
  }

  /** Starts reading an entry into the host cache. */
  read({ id: diskId }: CachedPrefix, hostId: HostId): void {
    this.reads.set(hostId, diskId);
    this.command({ type: "read", diskId, hostId });
  }

  /** Records that reading has ended; removes an entry that could not be read. */
  readEnded(hostId: HostId, done: boolean): void {
    const diskId = this.reads.get(hostId);
    this.reads.delete(hostId);
    if (!done && diskId !== undefined) this.remove(diskId);
  }

  /** Deletes the file that holds exactly this sequence, if there is one. */
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
