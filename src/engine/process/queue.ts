// A stream of values from one producer to one consumer, in order, ended by a failure or by `end`.

/** Unbounded by itself: what a job produces has a limit, or the engine holds it while its reader is behind. */
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

  /** Values that nobody has taken yet. */
  get size(): number {
    return this.values.length;
  }

  /** The next value that is here already. Taking them this way costs no promise a value. */
  take(): T | undefined {
    return this.values.shift();
  }

  /** Resolves when there is something to take, or with false when there never will be. Throws the failure. */
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
