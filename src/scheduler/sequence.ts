// The state of one request inside the scheduler.

/** Numbers a request; given by the caller, opaque here. */
export type Key = number;

/** A part of a prompt that is no text: its tokens are embeddings, decoded apart from everybody's. */
export interface MediaSpan {
  /** Index of its first token in the prompt. */
  readonly start: number;
  readonly tokens: number;
  /** By how much positions advance behind it; not always by its tokens. */
  readonly positions: number;
  /** It must be decoded whole. */
  readonly whole: boolean;
}

export interface SequenceRequest {
  readonly key: Key;
  readonly prompt: Int32Array;
  /** Most tokens to sample; at least 1, and prompt plus output must fit the model's limit. */
  readonly maxTokens: number;
  /** In order. */
  readonly media?: readonly MediaSpan[];
  /** A request with the same prompt: once that is computed, it is copied instead of computed again. */
  readonly leader?: Key;
}

/** Everything the plan needs to know about a request; owned by the scheduler. */
export class Sequence {
  readonly key: Key;
  readonly promptLength: number;
  readonly maxTokens: number;
  /** Prompt and sampled tokens; the last sampled one is not in the KV cache yet. */
  private tokens: Int32Array;
  length: number;
  /** Positions that are in the KV cache. */
  computed = 0;
  /** KV sequence id while running, -1 while waiting. */
  id = -1;
  readonly leader: Key | undefined;
  readonly media: readonly MediaSpan[];
  /** Prompt tokens that were copied from the leader. */
  shared = 0;
  /** Some of its rows have been in a plan. */
  started = false;

  constructor(request: SequenceRequest) {
    this.key = request.key;
    this.promptLength = request.prompt.length;
    this.maxTokens = request.maxTokens;
    this.leader = request.leader;
    this.media = request.media ?? [];
    this.tokens = request.prompt;
    this.length = request.prompt.length;
  }

  get generated(): number {
    return this.length - this.promptLength;
  }

  /** All but the newest token is in the cache: the next row samples. */
  get decoding(): boolean {
    return this.computed === this.length - 1 && this.generated > 0;
  }

  token(index: number): number {
    return this.tokens[index] as number;
  }

  /** Position of a text token in the KV cache, or of a span's first. */
  position(index: number): number {
    let position = index;
    for (const span of this.media) if (span.start < index) position += span.positions - span.tokens;
    return position;
  }

  /** The span that holds the next token to compute, or undefined when that is text. */
  get mediaNext(): MediaSpan | undefined {
    return this.media.find(({ start, tokens }) => this.computed >= start && this.computed < start + tokens);
  }

  /** The text tokens that can be computed in one go end here. */
  get textEnd(): number {
    return this.media.find(({ start }) => start >= this.computed)?.start ?? this.length;
  }

  append(token: number): void {
    if (this.length === this.tokens.length) {
      const larger = new Int32Array(Math.max(64, this.length + Math.min(this.length, 1024)));
      larger.set(this.tokens);
      this.tokens = larger;
    }
    this.tokens[this.length++] = token;
  }
}
