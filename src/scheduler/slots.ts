// What each slot holds: the tokens of the last request that named it, as far as they were computed. Their keys and values are in
// the prefix cache, for every request: a slot only says which of them are meant.

import { commonLength } from "./common-length.ts";
import type { HostId } from "./kv/host-entries.ts";
import type { KvCache } from "./kv/kv-cache.ts";
import type { Prefix } from "./kv/prefix-index.ts";
import { boundaryBefore } from "./media-span.ts";
import { Sequence } from "./sequence.ts";

/** A prefix, and the place in host memory where the engine has its state once it has carried out the commands. */
interface SavedPrefix {
  readonly hostId: HostId;
  readonly prefix: Prefix;
}

export class Slots {
  private readonly held = new Map<number, Prefix>();

  constructor(
    private readonly kv: KvCache,
    /** As many there are; greater numbers begin at 0 again, as in llama.cpp's server. */
    private readonly count: number,
  ) {}

  /** A request ends, while its tokens are in the cache. */
  ended({ slot, ids, computed, adapterKey, media }: Sequence): void {
    const length = boundaryBefore(media, computed);
    if (slot === undefined || length === 0) return;
    this.hold(slot, firstOf({ ids, adapterKey, media }, length));
  }

  /** From now on a slot holds these tokens. */
  hold(slot: number, prefix: Prefix): void {
    this.held.set(slot % this.count, prefix);
  }

  /** Has what the cache still has of a slot's tokens put in host memory; undefined: nothing. Needs `kv.hasPlace`. */
  save(slot: number, now: number): SavedPrefix | undefined {
    const held = this.held.get(slot % this.count);
    if (!held) return undefined;
    const { ids, adapterKey, media } = held;
    // It goes on where the tokens end, as the next request of the conversation does.
    const prompt = new Int32Array(ids.length + 1);
    prompt.set(ids);
    const next = new Sequence({ key: -1, prompt, maxTokens: 1, media }, now, () => adapterKey);
    const hostId = this.kv.save(next, now);
    return hostId === undefined ? undefined : { hostId, prefix: firstOf(held, next.computed) };
  }

  /** Forgets a slot and what is cached of its tokens, but for what other slots hold. Returns how many tokens it held. */
  erase(slot: number): number {
    const prefix = this.held.get(slot % this.count);
    if (!prefix) return 0;
    this.held.delete(slot % this.count);
    const others = [...this.held.values()];
    this.kv.forget(prefix, ({ ids, adapterKey }) => {
      const alike = others.filter((other) => other.adapterKey === adapterKey);
      return Math.max(0, ...alike.map((other) => commonLength(ids, other.ids, ids.length)));
    });
    return prefix.ids.length;
  }
}

const firstOf = ({ ids, adapterKey, media }: Prefix, length: number): Prefix => ({
  ids: ids.slice(0, length),
  adapterKey,
  media: media.filter(({ start }) => start < length),
});
