// The state of one request inside the scheduler.

import { adapterKey, type AdapterSet } from "../domain/adapters.ts";
import { commonLength } from "./common-length.ts";
import { positionAt, type MediaSpan } from "./media-span.ts";

/** Tokens that may always be dropped, however many are to stay. */
const FEWEST_SHIFTED = 4;

/** Numbers a request; given by the caller, opaque here, later requests have larger ones. */
export type Key = number;

export interface SequenceRequest {
  readonly key: Key;
  /** Token ids. Those of media are below zero and stand for the content: equal content, equal ids. */
  readonly prompt: Int32Array;
  /** Most tokens to sample; at least 1, and without `shift` prompt plus output must fit the model's limit. */
  readonly maxTokens: number;
  /** Where prompt and output come to `room` tokens, older ones are dropped, but for the first `keep`. Not with media. */
  readonly shift?: ContextShift;
  /** In order. */
  readonly media?: readonly MediaSpan[];
  /** LoRA adapters that compute it: requests of different sets share nothing. */
  readonly adapters?: AdapterSet;
  /** The client that sent it: clients get equal shares. */
  readonly client?: string;
  /** It yields to all requests that are not. */
  readonly background?: boolean;
  /** Whether it allows speculative tokens. */
  readonly speculate?: boolean;
  /** Nothing that is cached is used for it. */
  readonly fresh?: boolean;
  /** The log probability of each of its prompt's tokens is wanted. */
  readonly scored?: boolean;
  /** The slot that holds its tokens when it has ended; absent: none. */
  readonly slot?: number;
  /** Whether it allows multi-step decoding: several tokens are sampled before the first is looked at. */
  readonly multiStep?: boolean;
}

export interface ContextShift {
  readonly room: number;
  readonly keep: number;
}

/** What plans need to know about a request; owned by the scheduler. */
export class Sequence {
  readonly key: Key;
  readonly promptLength: number;
  readonly maxTokens: number;
  readonly media: readonly MediaSpan[];
  readonly adapters: AdapterSet;
  readonly adapterKey: string;
  readonly client: string;
  readonly background: boolean;
  readonly multiStep: boolean;
  readonly speculate: boolean;
  readonly fresh: boolean;
  readonly scored: boolean;
  readonly slot: number | undefined;
  private readonly context: ContextShift | undefined;
  /** Prompt and sampled tokens but those that were dropped; the last sampled one is not in the KV cache yet. */
  ids: Int32Array;
  length: number;
  /** Tokens that were dropped because the context was full. */
  dropped = 0;
  /** Tokens that are in the KV cache. */
  computed = 0;
  /** KV sequence id while running, -1 while waiting. */
  id = -1;
  /** Prompt tokens that were in the cache when it was first admitted. */
  cached: number | undefined;
  /** When it was admitted last. */
  admittedAt = 0;
  /** It was preempted and waits to be resumed. */
  preempted = false;
  /** A plan has had some of its rows. */
  started = false;
  /** It waits for this request to compute their common prefix of so many tokens. */
  awaits: { readonly leader: Sequence; readonly length: number } | undefined;
  /** The place in the host cache that a prefix of it is read to from disk; undefined until the disk cache was searched. */
  diskRead: number | "none" | undefined;

  constructor(
    request: SequenceRequest,
    /** When it was received, in milliseconds. */
    readonly addedAt: number,
    keyOf: (adapters: AdapterSet) => string = adapterKey,
  ) {
    this.key = request.key;
    this.promptLength = request.prompt.length;
    this.maxTokens = request.maxTokens;
    this.media = request.media ?? [];
    this.adapters = request.adapters ?? [];
    this.adapterKey = keyOf(this.adapters);
    this.client = request.client ?? "";
    this.background = request.background ?? false;
    this.multiStep = request.multiStep ?? false;
    this.speculate = request.speculate ?? false;
    this.scored = request.scored ?? false;
    this.fresh = this.scored || (request.fresh ?? false);
    this.slot = request.slot;
    this.context = request.shift;
    this.ids = request.prompt;
    this.length = request.prompt.length;
  }

  get generated(): number {
    return this.length + this.dropped - this.promptLength;
  }

  /** Tokens that it may still sample, at most, before it ends or older ones are dropped. */
  get left(): number {
    return Math.min(this.maxTokens - this.generated, (this.context?.room ?? Number.POSITIVE_INFINITY) - this.length);
  }

  /** It may sample more tokens than the context has room for. */
  get isFull(): boolean {
    return this.left === 0 && this.generated < this.maxTokens;
  }

  get running(): boolean {
    return this.id >= 0;
  }

  /** All but the newest token is in the cache: the next row samples. */
  get decoding(): boolean {
    return this.computed === this.length - 1 && this.generated > 0;
  }

  /** Tokens to compute before it decodes. */
  get remaining(): number {
    return this.length - this.computed;
  }

  /** Position of a text token in the KV cache, or of a span's first. */
  position(index: number): number {
    return positionAt(this.media, index);
  }

  /** The span that holds the next token to compute, or undefined when that is text. */
  get mediaNext(): MediaSpan | undefined {
    return this.media.find(({ start, tokens }) => this.computed >= start && this.computed < start + tokens);
  }

  /** End of the text tokens that can be computed in one step: where the next medium begins, or the end of all. */
  get textEnd(): number {
    return this.media.find(({ start }) => start >= this.computed)?.start ?? this.length;
  }

  /** Tokens of the common prefix, if the same adapters compute both; `limit` at most. */
  sharedWith(other: Sequence, limit: number): number {
    if (this.adapterKey !== other.adapterKey) return 0;
    return commonLength(this.ids, other.ids, Math.min(limit, this.length, other.length));
  }

  /** Drops the older half of the tokens behind the first ones that stay. What follows them is to be computed again. */
  shift(): void {
    const { room = 0, keep = 0 } = this.context ?? {};
    const kept = Math.min(keep, room - FEWEST_SHIFTED);
    const count = Math.floor((this.length - kept) / 2);
    const ids = this.ids.slice(0, this.length);
    ids.copyWithin(kept, kept + count);
    this.ids = ids;
    this.length -= count;
    this.dropped += count;
    this.computed = Math.min(this.computed, kept);
  }

  append(token: number): void {
    if (this.length === this.ids.length) {
      const larger = new Int32Array(Math.max(64, this.length + Math.min(this.length, 1024)));
      larger.set(this.ids);
      this.ids = larger;
    }
    this.ids[this.length++] = token;
  }
}
