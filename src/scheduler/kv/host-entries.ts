// What was moved out of the KV cache into host memory. Only the bookkeeping: the bytes are the engine's. How many they are
// is known when they are there; until then it is estimated.

import { commonLength } from "../common-length.ts";
import { staleness } from "./idle-sequences.ts";
import type { MediaSpan } from "../media-span.ts";

/** Numbers what was saved. */
export type SavedId = number;

export interface Saved {
  readonly id: SavedId;
  /** Its tokens: all of them. */
  readonly ids: Int32Array;
  /** The adapters that computed it. */
  readonly adapterKey: string;
  readonly media: readonly MediaSpan[];
}

/** Tokens, and the adapters that compute them. */
export type Computed = Pick<Saved, "ids" | "adapterKey">;

interface Entry extends Saved {
  /** As they were told; until all of it is there, at least what it is expected to take. */
  bytes: number;
  /** Those that are there. */
  written: number;
  /** When it was last used, and how often. */
  at: number;
  uses: number;
  /** All of it is there. */
  complete: boolean;
}

export class SavedPrefixes {
  private readonly entries = new Map<SavedId, Entry>();
  private nextId = 1;
  private heldTokens = 0;
  private heldBytes = 0;
  /** What a sequence takes beside its tokens: recurrent states. */
  private stateBytes = 0;

  constructor(
    /** Bytes that all of it may take. */
    private readonly capacity: number,
    /** What a token takes. */
    private readonly tokenBytes: number,
    /** What is saved can be cut at any token; else it is used to its end or not at all. */
    private readonly cut = true,
  ) {}

  /** Tokens that are saved. */
  get tokens(): number {
    return this.heldTokens;
  }

  /** Whether so many tokens find room, where others leave. */
  fits(tokens: number): boolean {
    return this.bytesOf(tokens) <= this.capacity;
  }

  /** The longest saved beginning of the first `limit` tokens; `whole`: only of what can be used to its end. */
  find(
    wanted: Computed,
    limit: number,
    whole: boolean,
  ): { readonly saved: Saved; readonly length: number } | undefined {
    let best: { saved: Saved; length: number } | undefined;
    for (const saved of this.entries.values()) {
      if (!saved.complete) continue;
      const length = shared(saved, wanted, limit);
      if (length > (best?.length ?? 0) && (!whole || length === saved.ids.length)) best = { saved, length };
    }
    return best;
  }

  /** Whether so many tokens can be saved at all, and are not yet. */
  wants(sequence: Computed): boolean {
    const { length } = sequence.ids;
    return this.fits(length) && this.find(sequence, length, !this.cut)?.length !== length;
  }

  /**
   * Takes in a sequence; what has to make room for it is given back, but not `pinned`. Undefined when there is no room. It is
   * found from `complete` on.
   */
  add(
    sequence: Omit<Saved, "id">,
    now: number,
    pinned: readonly (SavedId | undefined)[] = [],
  ): { readonly id: SavedId; readonly dropped: readonly Saved[] } | undefined {
    const { ids, media, adapterKey } = sequence;
    const others = [...this.entries.values()].filter(({ id }) => !pinned.includes(id));
    // It says all that its own beginnings say, where it can be cut.
    const leaving = others.filter((entry) => this.cut && shared(entry, sequence, ids.length) === entry.ids.length);
    const rest = others.filter((entry) => !leaving.includes(entry)).toSorted(stalestFirst(now));
    const bytes = this.bytesOf(ids.length);
    const held = () => leaving.reduce((sum, entry) => sum - entry.bytes, this.heldBytes);
    while (held() + bytes > this.capacity) {
      const next = rest.shift();
      if (!next) return undefined;
      leaving.push(next);
    }
    leaving.forEach((gone) => this.remove(gone.id));
    const id = this.newId();
    this.entries.set(id, { id, ids, media, adapterKey, at: now, uses: 0, complete: false, bytes: 0, written: 0 });
    this.heldTokens += ids.length;
    this.resize(id, bytes);
    return { id, dropped: leaving };
  }

  /** So many more bytes of it are there. Returns what has to leave because they are more than was expected. */
  wrote(id: SavedId, bytes: number, now: number, pinned: readonly (SavedId | undefined)[] = []): readonly Saved[] {
    const entry = this.entries.get(id);
    if (!entry) return [];
    entry.written += bytes;
    if (entry.complete) this.stateBytes = Math.max(0, entry.written - entry.ids.length * this.tokenBytes);
    this.resize(id, entry.complete ? entry.written : Math.max(entry.bytes, entry.written));
    const leaving: Saved[] = [];
    const rest = [...this.entries.values()].filter((other) => !pinned.includes(other.id)).toSorted(stalestFirst(now));
    for (const next of rest) {
      if (this.heldBytes <= this.capacity) break;
      leaving.push(next);
      this.remove(next.id);
    }
    return leaving;
  }

  /** A number for what is saved without a place of its own, only to go elsewhere. */
  newId(): SavedId {
    return this.nextId++;
  }

  /** Takes out what is likeliest to be asked for again. */
  takeBest(now: number): Saved | undefined {
    const complete = [...this.entries.values()].filter((entry) => entry.complete);
    const [best] = complete.toSorted((a, b) => staleness(a, now) - staleness(b, now));
    if (best) this.remove(best.id);
    return best;
  }

  /** All of it was saved. */
  complete(id: SavedId): void {
    const entry = this.entries.get(id);
    if (entry) entry.complete = true;
  }

  /** It served a request. */
  used(id: SavedId, now: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    entry.at = now;
    entry.uses++;
  }

  /** What is saved under a number. */
  get(id: SavedId): Saved | undefined {
    return this.entries.get(id);
  }

  remove(id: SavedId): void {
    this.resize(id, 0);
    this.heldTokens -= this.entries.get(id)?.ids.length ?? 0;
    this.entries.delete(id);
  }

  private bytesOf(tokens: number): number {
    return tokens * this.tokenBytes + this.stateBytes;
  }

  private resize(id: SavedId, bytes: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.heldBytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }
}

const stalestFirst = (now: number) => (a: Entry, b: Entry) => staleness(b, now) - staleness(a, now);

/** Tokens that both begin with, if the same adapters compute them. */
export const shared = (a: Computed, b: Computed, limit: number): number =>
  a.adapterKey === b.adapterKey ? commonLength(a.ids, b.ids, limit) : 0;
