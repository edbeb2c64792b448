// A stream of values from one producer to one consumer, in order, ended by a failure or by `end`.

/** Unbounded itself: a job's output has a limit, or the engine pauses the job while its reader is behind. */
export class EventQueue<T extends {}> {
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

  /** Values pushed so far are still delivered; then `more` throws. */
  fail(error: Error): void {
    if (this.ended) return;
    this.failure = error;
    this.end();
  }

  /** How many values wait to be taken. */
  get size(): number {
    return this.values.length;
  }

  /** Returns the next value that is here already, without a promise for each; undefined if there is none. */
  take(): T | undefined {
    return this.values.shift();
  }

  /** Resolves with true when there is a value to take, with false when there never will be. Throws the failure. */
  async more(): Promise<boolean> {
    if (this.values.length === 0 && !this.ended) {
      await new Promise<void>((resolve) => (this.wake = resolve));
      this.wake = undefined;
    }
    if (this.values.length > 0) return true;
    if (this.failure) throw this.failure;
    return false;
  }
}
