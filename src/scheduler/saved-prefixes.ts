// What was moved out of the KV cache into host memory. Only the bookkeeping: the bytes are the engine's.

import { commonLength } from "./common-length.ts";
import { staleness } from "./idle-sequences.ts";
import type { MediaSpan } from "./media-span.ts";

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
  /** When it was last used, and how often. */
  at: number;
  uses: number;
  /** All of it is there. */
  complete: boolean;
}

export class SavedPrefixes {
  private readonly entries = new Map<SavedId, Entry>();
  private nextId = 1;
  private held = 0;

  /** Holds at most so many tokens. */
  constructor(private readonly capacity: number) {}

  /** Tokens that are saved. */
  get tokens(): number {
    return this.held;
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
    return length <= this.capacity && this.find(sequence, length, false)?.length !== length;
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
    // It says all that its own beginnings say.
    const leaving = others.filter((entry) => shared(entry, sequence, ids.length) === entry.ids.length);
    const rest = others
      .filter((entry) => !leaving.includes(entry))
      .toSorted((a, b) => staleness(b, now) - staleness(a, now));
    const held = () => leaving.reduce((sum, entry) => sum - entry.ids.length, this.held);
    while (held() + ids.length > this.capacity) {
      const next = rest.shift();
      if (!next) return undefined;
      leaving.push(next);
    }
    leaving.forEach((gone) => this.remove(gone.id));
    const id = this.newId();
    this.entries.set(id, { id, ids, media, adapterKey, at: now, uses: 0, complete: false });
    this.held += ids.length;
    return { id, dropped: leaving };
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
    this.held -= this.entries.get(id)?.ids.length ?? 0;
    this.entries.delete(id);
  }
}

/** Tokens that both begin with, if the same adapters compute them. */
export const shared = (a: Computed, b: Computed, limit: number): number =>
  a.adapterKey === b.adapterKey ? commonLength(a.ids, b.ids, limit) : 0;
