// The state of one request inside the scheduler.

/** Numbers a request; given by the caller, opaque here. */
export type Key = number;

export interface SequenceRequest {
  readonly key: Key;
  readonly prompt: Int32Array;
  /** Most tokens to sample; at least 1, and prompt plus output must fit the model's limit. */
  readonly maxTokens: number;
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
  /** Prompt tokens that were copied from the leader. */
  shared = 0;
  /** Some of its rows have been in a plan. */
  started = false;

  constructor(request: SequenceRequest) {
    this.key = request.key;
    this.promptLength = request.prompt.length;
    this.maxTokens = request.maxTokens;
    this.leader = request.leader;
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

  token(position: number): number {
    return this.tokens[position] as number;
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
