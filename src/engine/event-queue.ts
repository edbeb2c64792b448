// A stream of values from one producer to one consumer, in order, ended by a failure or by `end`.

/** Unbounded by itself: its producer (one generation) is bounded by the token limit of the request. */
export class EventQueue<T> implements AsyncIterable<T> {
  private readonly values: T[] = [];
  private ended = false;
  private failure: Error | undefined;
  private wake: (() => void) | undefined;

  push(value: T): void {
    if (this.ended) return;
    this.values.push(value);
    this.wake?.();
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  /** Values pushed so far are still delivered; then the consumer's `next` throws. */
  fail(error: Error): void {
    if (this.ended) return;
    this.failure = error;
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      while (this.values.length > 0) yield this.values.shift() as T;
      if (this.failure) throw this.failure;
      if (this.ended) return;
      await new Promise<void>((resolve) => (this.wake = resolve));
      this.wake = undefined;
    }
  }
}
