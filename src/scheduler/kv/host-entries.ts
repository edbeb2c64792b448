// The entries of the host cache and their sizes. This is only the bookkeeping: the engine owns the bytes. The engine
// reports an entry's size once it is written; until then the size is estimated.

import { staleness, type Left } from "./idle-sequences.ts";
import { isPrefix, PrefixIndex, type CachedPrefix, type Computed, type Found, type Prefix } from "./prefix-index.ts";

/** Number of an entry. */
export type HostId = number;

/** A prefix that leaves a cache for the next one. */
export interface Evicted extends CachedPrefix, Left {}

interface Entry extends Evicted {
  /** Its size in bytes; until the entry is complete, at least the expected size. */
  bytes: number;
  /** Bytes written so far. */
  written: number;
  at: number;
  uses: number;
}

/** A new entry, and the entries that were removed for it. */
interface Added {
  readonly id: HostId;
  /** Entries that are prefixes of the new entry, and so no longer useful. */
  readonly replaced: readonly CachedPrefix[];
  readonly evicted: readonly Evicted[];
}

/** Entries that must not be evicted. */
type Pinned = readonly (HostId | undefined)[];

export class HostEntries {
  /** Tokens of all entries. */
  tokens = 0;
  private readonly entries = new Map<HostId, Entry>();
  /** The complete entries. */
  private readonly index = new PrefixIndex();
  private nextId = 1;
  private heldBytes = 0;
  /** Bytes of a sequence in addition to those of its tokens: recurrent states. */
  private stateBytes = 0;

  constructor(
    /** Total bytes that entries may take. */
    private readonly capacity: number,
    /** Bytes per token. */
    private readonly tokenBytes: number,
    /** Whether entries can be trimmed at any token; if not, each is used as a whole or not at all. */
    private readonly canTrim = true,
  ) {}

  /** Returns whether `tokens` tokens fit if everything else is evicted. */
  fits(tokens: number): boolean {
    return this.bytesOf(tokens) <= this.capacity;
  }

  /**
   * Returns the complete entry that shares most of the first `limit` tokens; of several, the shortest. `whole`: only an
   * entry that matches to its end.
   */
  find(wanted: Computed, limit: number, whole: boolean): Found | undefined {
    return this.index.find(wanted, limit, whole);
  }

  /** Returns whether a sequence fits and no entry holds all of it for as long as it is worth keeping. */
  wants(sequence: Computed & Partial<Left>): boolean {
    return this.fits(sequence.ids.length) && !this.findable().some((entry) => this.replaces(entry, sequence));
  }

  /** Adds an entry, to be found once it is complete. Returns undefined when it does not fit beside the pinned ones. */
  add(sequence: Prefix & Partial<Left>, now: number, pinned: Pinned = []): Added | undefined {
    const { ids, media, adapterKey, at = now, owner, passing } = sequence;
    const others = [...this.entries.values()].filter(({ id }) => !pinned.includes(id));
    const replaced = others.filter((entry) => this.replaces(sequence, entry));
    const rest = others.filter((entry) => !replaced.includes(entry)).toSorted(stalestFirst(now));
    const evicted: Entry[] = [];
    const bytes = this.bytesOf(ids.length);
    let held = replaced.reduce((sum, entry) => sum - entry.bytes, this.heldBytes);
    while (held + bytes > this.capacity) {
      const next = rest.shift();
      if (!next) return undefined;
      evicted.push(next);
      held -= next.bytes;
    }
    for (const entry of [...replaced, ...evicted]) this.remove(entry.id);
    const id = this.newId();
    const left = { at, ...(passing && { passing, ...(owner && { owner }) }) };
    this.entries.set(id, { id, ids, media, adapterKey, ...left, uses: 0, bytes: 0, written: 0 });
    this.tokens += ids.length;
    this.resize(id, bytes);
    return { id, replaced, evicted };
  }

  /** Records that more of an entry was written. Returns the entries evicted because it is larger than expected. */
  wrote(id: HostId, bytes: number, now: number, pinned: Pinned = []): readonly Evicted[] {
    const entry = this.entries.get(id);
    if (!entry) return [];
    entry.written += bytes;
    const isComplete = this.index.get(id) !== undefined;
    if (isComplete) this.stateBytes = Math.max(0, entry.written - entry.ids.length * this.tokenBytes);
    this.resize(id, isComplete ? entry.written : Math.max(entry.bytes, entry.written));
    const evicted: Evicted[] = [];
    const rest = [...this.entries.values()].filter((other) => !pinned.includes(other.id)).toSorted(stalestFirst(now));
    for (const next of rest) {
      if (this.heldBytes <= this.capacity) break;
      evicted.push(next);
      this.remove(next.id);
    }
    return evicted;
  }

  /** Returns an id for a state that passes through host memory without an entry, for instance on its way to disk. */
  newId(): HostId {
    return this.nextId++;
  }

  /** Removes and returns the complete entry that is most likely to be used again. */
  takeBest(now: number): Evicted | undefined {
    const [best] = this.findable().toSorted((a, b) => staleness(a, now) - staleness(b, now));
    if (best) this.remove(best.id);
    return best;
  }

  /** Makes an entry findable: all of it was written, or will be before the next command. */
  complete(id: HostId): void {
    const entry = this.entries.get(id);
    if (entry) this.index.add(entry);
  }

  /** Returns the complete entries that are prefixes of these tokens. */
  prefixesOf(prefix: Computed): CachedPrefix[] {
    return this.findable().filter((entry) => isPrefix(entry, prefix));
  }

  /** Records that an entry served a request. */
  used(id: HostId, now: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    entry.at = now;
    entry.uses++;
  }

  get(id: HostId): CachedPrefix | undefined {
    return this.entries.get(id);
  }

  remove(id: HostId): void {
    this.resize(id, 0);
    this.tokens -= this.entries.get(id)?.ids.length ?? 0;
    this.entries.delete(id);
    this.index.remove(id);
  }

  /** Returns the complete entries. */
  private findable(): Entry[] {
    return [...this.entries.values()].filter(({ id }) => this.index.get(id));
  }

  /** Returns whether `a` can be used wherever `b` can, and is kept as long. */
  private replaces(a: Computed & Partial<Left>, b: Computed & Partial<Left>): boolean {
    const serves = isPrefix(b, a) && (this.canTrim || a.ids.length === b.ids.length);
    return serves && (!a.passing || b.passing === true);
  }

  private bytesOf(tokens: number): number {
    return tokens * this.tokenBytes + this.stateBytes;
  }

  private resize(id: HostId, bytes: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.heldBytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }
}

const stalestFirst = (now: number) => (a: Entry, b: Entry) => staleness(b, now) - staleness(a, now);
