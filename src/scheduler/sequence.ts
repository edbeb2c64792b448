// The state of one request inside the scheduler.

import { adapterKey, type AdapterSet } from "../domain/adapters.ts";
import { commonLength } from "./common-length.ts";
import { positionAt, type MediaSpan } from "./media-span.ts";

/** Keeps `shift` able to drop tokens: at most `room` minus this many are protected by `keep`. */
const FEWEST_SHIFTED = 4;

/** Number of a request, chosen by the caller. Later requests must have larger numbers. */
export type Key = number;

export interface SequenceRequest {
  readonly key: Key;
  /** Token ids. The ids of media are negative and identify the content: equal content has equal ids. */
  readonly prompt: Int32Array;
  /** Maximum number of tokens to sample; at least 1. Without `shift`, prompt plus output must fit the model's limit. */
  readonly maxTokens: number;
  /** When prompt and output reach `room` tokens, older ones are dropped, except the first `keep`. Not for media. */
  readonly shift?: ContextShift;
  /** Images and sound in the prompt, in order. */
  readonly media?: readonly MediaSpan[];
  /** LoRA adapters that compute the request. Requests with different sets share no cached tokens. */
  readonly adapters?: AdapterSet;
  /** The client that sent the request: clients get equal shares. */
  readonly client?: string;
  /** Whether the request yields to all requests that are not in the background. */
  readonly background?: boolean;
  /** Whether the request may have speculative tokens. */
  readonly speculate?: boolean;
  /** Whether to compute the whole prompt, without any cached tokens. */
  readonly fresh?: boolean;
  /** Whether the log probability of each prompt token is requested. */
  readonly scored?: boolean;
  /** The slot that holds the request's tokens after it has ended; absent: none. */
  readonly slot?: number;
  /** Whether multi-step decoding is allowed: several tokens are sampled before the first is processed. */
  readonly multiStep?: boolean;
}

export interface ContextShift {
  readonly room: number;
  readonly keep: number;
}

/** The state of a request that planning needs; owned by the scheduler. */
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
  /** Prompt and sampled tokens, except dropped ones; the last sampled token is not in the KV cache yet. */
  ids: Int32Array;
  length: number;
  /** How many tokens were dropped because the context was full. */
  dropped = 0;
  /** How many tokens are in the KV cache. */
  computed = 0;
  /** KV sequence id while running, -1 while waiting. */
  id = -1;
  /** How many prompt tokens were cached when the request was first admitted; undefined until then. */
  cached: number | undefined;
  /** When the request was last admitted, in milliseconds. */
  admittedAt = 0;
  /** Whether the request was preempted and waits to be resumed. */
  preempted = false;
  /** Whether some of the request's rows have been planned. */
  started = false;
  /** The request that this one waits for, until `leader` has computed their common prefix of `length` tokens. */
  awaits: { readonly leader: Sequence; readonly length: number } | undefined;
  /** Host cache entry that a prefix is read into from disk; undefined until the disk cache has been searched. */
  diskRead: number | "none" | undefined;

  constructor(
    request: SequenceRequest,
    /** When the request was received, in milliseconds. */
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

  /** How many more tokens the request may sample before it ends or older tokens are dropped. */
  get mostLeft(): number {
    return Math.min(this.maxTokens - this.generated, (this.context?.room ?? Number.POSITIVE_INFINITY) - this.length);
  }

  /** Whether the context is full although the request may sample more tokens. */
  get isFull(): boolean {
    return this.mostLeft === 0 && this.generated < this.maxTokens;
  }

  get running(): boolean {
    return this.id >= 0;
  }

  /** Whether all tokens but the newest are in the cache, so that the next row samples. */
  get decoding(): boolean {
    return this.computed === this.length - 1 && this.generated > 0;
  }

  /** How many tokens must be computed before the request decodes. */
  get uncomputed(): number {
    return this.length - this.computed;
  }

  /** Returns the position in the KV cache of a text token, or of a span's first token. */
  position(index: number): number {
    return positionAt(this.media, index);
  }

  /** The span that contains the next token to compute, or undefined when that token is text. */
  get mediaNext(): MediaSpan | undefined {
    return this.media.find(({ start, tokens }) => this.computed >= start && this.computed < start + tokens);
  }

  /** End of the text tokens that one step can compute: the start of the next medium, or the end of the sequence. */
  get textEnd(): number {
    return this.media.find(({ start }) => start >= this.computed)?.start ?? this.length;
  }

  /** Returns the length of the common prefix, at most `limit`; 0 if different adapters compute the two requests. */
  sharedWith(other: Sequence, limit: number): number {
    if (this.adapterKey !== other.adapterKey) return 0;
    return commonLength(this.ids, other.ids, Math.min(limit, this.length, other.length));
  }

  /** Drops the older half of the tokens after the first `keep`. The tokens after those must be computed again. */
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
