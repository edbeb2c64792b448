// What each slot holds: the tokens of the last request that named it, as far as they were computed. A slot only names
// tokens: their keys and values are in the prefix cache, which all requests share.

import { commonLength } from "./common-length.ts";
import type { HostId } from "./kv/host-entries.ts";
import type { KvCache } from "./kv/kv-cache.ts";
import type { Prefix } from "./kv/prefix-index.ts";
import { boundaryBefore } from "./media-span.ts";
import { Sequence } from "./sequence.ts";

/** A prefix, and the id under which the engine has its state in host memory once it has carried out the commands. */
interface SavedPrefix {
  readonly hostId: HostId;
  readonly prefix: Prefix;
}

export class Slots {
  private readonly held = new Map<number, Prefix>();

  constructor(
    private readonly kv: KvCache,
    /** How many slots there are; greater slot numbers wrap around, as in llama.cpp's server. */
    private readonly count: number,
  ) {}

  /** Stores the tokens of a request in its slot. Call it when the request ends, while its tokens are in the cache. */
  ended({ slot, ids, computed, adapterKey, media }: Sequence): void {
    const length = boundaryBefore(media, computed);
    if (slot === undefined || length === 0) return;
    this.hold(slot, firstOf({ ids, adapterKey, media }, length));
  }

  /** Makes a slot hold these tokens from now on. */
  hold(slot: number, prefix: Prefix): void {
    this.held.set(slot % this.count, prefix);
  }

  /** Copies the tokens of a slot that are still cached to host memory; undefined: none are. Requires `kv.hasPlace`. */
  save(slot: number, now: number): SavedPrefix | undefined {
    const held = this.held.get(slot % this.count);
    if (!held) return undefined;
    const { ids, adapterKey, media } = held;
    // A request that continues where the tokens end, like the next request of the conversation.
    const prompt = new Int32Array(ids.length + 1);
    prompt.set(ids);
    const next = new Sequence({ key: -1, prompt, maxTokens: 1, media }, now, () => adapterKey);
    const hostId = this.kv.save(next, now);
    return hostId === undefined ? undefined : { hostId, prefix: firstOf(held, next.computed) };
  }

  /** Forgets a slot and its cached tokens, except those that other slots hold. Returns how many tokens it held. */
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
