// The entries of the host cache and the bytes that they take. Only the bookkeeping: the bytes themselves are the engine's.
// The engine reports an entry's size once it is written; until then it is estimated.

import { staleness } from "./idle-sequences.ts";
import { isPrefix, PrefixIndex, type CachedPrefix, type Computed, type Found, type Prefix } from "./prefix-index.ts";

/** Numbers the entries. */
export type HostId = number;

interface Entry extends CachedPrefix {
  /** Bytes that it takes; until it is complete, at least those that are expected. */
  bytes: number;
  /** Bytes that were written. */
  written: number;
  /** When it was last used, and how often. */
  at: number;
  uses: number;
}

/** A new entry, and those that made way for it. */
interface Added {
  readonly id: HostId;
  /** They are prefixes of the new one, and of no more use. */
  readonly replaced: readonly CachedPrefix[];
  readonly evicted: readonly CachedPrefix[];
}

/** Entries that must not be evicted. */
type Pinned = readonly (HostId | undefined)[];

export class HostEntries {
  private readonly entries = new Map<HostId, Entry>();
  /** The complete ones. */
  private readonly index = new PrefixIndex("oldest");
  private nextId = 1;
  private heldTokens = 0;
  private heldBytes = 0;
  /** Bytes of a sequence beside those of its tokens: recurrent states. */
  private stateBytes = 0;

  constructor(
    /** Bytes that all entries may take. */
    private readonly capacity: number,
    /** Bytes of a token. */
    private readonly tokenBytes: number,
    /** Entries can be trimmed at any token; else each is used to its end or not at all. */
    private readonly canTrim = true,
  ) {}

  /** Tokens of all entries. */
  get tokens(): number {
    return this.heldTokens;
  }

  /** Whether so many tokens fit if everything else is evicted. */
  fits(tokens: number): boolean {
    return this.bytesOf(tokens) <= this.capacity;
  }

  /** The complete entry that shares most of the first `limit` tokens, of several the oldest; `whole`: only one that ends there. */
  find(wanted: Computed, limit: number, whole: boolean): Found | undefined {
    return this.index.find(wanted, limit, whole);
  }

  /** Whether a sequence fits and no entry holds all of it. */
  wants(sequence: Computed): boolean {
    const { length } = sequence.ids;
    return this.fits(length) && this.find(sequence, length, !this.canTrim)?.length !== length;
  }

  /** Makes an entry, which is found once it is complete. Undefined when it does not fit beside the pinned ones. */
  add(sequence: Prefix, now: number, pinned: Pinned = []): Added | undefined {
    const { ids, media, adapterKey } = sequence;
    const others = [...this.entries.values()].filter(({ id }) => !pinned.includes(id));
    const replaced = others.filter((entry) => this.canTrim && isPrefix(entry, sequence));
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
    this.entries.set(id, { id, ids, media, adapterKey, at: now, uses: 0, bytes: 0, written: 0 });
    this.heldTokens += ids.length;
    this.resize(id, bytes);
    return { id, replaced, evicted };
  }

  /** More of an entry was written. Returns those that are evicted because it is larger than expected. */
  wrote(id: HostId, bytes: number, now: number, pinned: Pinned = []): readonly CachedPrefix[] {
    const entry = this.entries.get(id);
    if (!entry) return [];
    entry.written += bytes;
    const isComplete = this.index.get(id) !== undefined;
    if (isComplete) this.stateBytes = Math.max(0, entry.written - entry.ids.length * this.tokenBytes);
    this.resize(id, isComplete ? entry.written : Math.max(entry.bytes, entry.written));
    const evicted: CachedPrefix[] = [];
    const rest = [...this.entries.values()].filter((other) => !pinned.includes(other.id)).toSorted(stalestFirst(now));
    for (const next of rest) {
      if (this.heldBytes <= this.capacity) break;
      evicted.push(next);
      this.remove(next.id);
    }
    return evicted;
  }

  /** A number for a sequence that passes through host memory on its way to disk, without an entry. */
  newId(): HostId {
    return this.nextId++;
  }

  /** Removes and returns the complete entry that is likeliest to be used again. */
  takeBest(now: number): CachedPrefix | undefined {
    const complete = [...this.entries.values()].filter(({ id }) => this.index.get(id));
    const [best] = complete.toSorted((a, b) => staleness(a, now) - staleness(b, now));
    if (best) this.remove(best.id);
    return best;
  }

  /** All of an entry was written, or will be before the next command: it can be found. */
  complete(id: HostId): void {
    const entry = this.entries.get(id);
    if (entry) this.index.add(entry);
  }

  /** The complete entries whose tokens begin these. */
  prefixesOf(prefix: Computed): CachedPrefix[] {
    return [...this.entries.values()].filter((entry) => this.index.get(entry.id) && isPrefix(entry, prefix));
  }

  /** An entry served a request. */
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
    this.heldTokens -= this.entries.get(id)?.ids.length ?? 0;
    this.entries.delete(id);
    this.index.remove(id);
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
