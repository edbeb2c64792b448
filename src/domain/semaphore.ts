// A weighted semaphore: work of known size shares bytes of memory or places; work that does not fit waits.

import { abortable } from "./abortable.ts";

interface Waiting {
  readonly size: number;
  readonly signal: AbortSignal;
  readonly begin: () => void;
  /** Size of later work that has begun before this. */
  overtaken: number;
}

export class Semaphore {
  private free: number;
  /** In order of arrival. */
  private waiting: readonly Waiting[] = [];

  /** `most`: what all work may hold at the same time. */
  constructor(private readonly most: number) {
    this.free = most;
  }

  /**
   * Runs `work` once as much as `size` is free, or once all is free if it needs more. Throws the error of `work`, or the
   * signal's reason as soon as it is aborted; nothing is free again until `work` has really ended.
   */
  async run<T>(size: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const free = await this.take(size, signal);
    const begin = async () => {
      try {
        // It may have been aborted in the moment its turn came.
        signal.throwIfAborted();
        return await work();
      } finally {
        free();
      }
    };
    return abortable(begin(), signal);
  }

  /**
   * Takes as much as `size` once it is free, or all once all is free if it needs more. Returns the function that gives
   * it back. Throws the signal's reason when it is aborted first.
   */
  async take(size: number, signal: AbortSignal): Promise<() => void> {
    let held = Math.min(size, this.most);
    const turn = Promise.withResolvers<void>();
    this.waiting = [...this.waiting, { size: held, signal, begin: turn.resolve, overtaken: 0 }];
    this.beginThoseThatFit();
    try {
      await abortable(turn.promise, signal);
    } catch (error) {
      // It may have kept smaller work waiting.
      this.beginThoseThatFit();
      throw error;
    }
    return () => {
      this.free += held;
      held = 0;
      this.beginThoseThatFit();
    };
  }

  private beginThoseThatFit(): void {
    this.waiting = this.waiting.filter(({ signal }) => !signal.aborted);
    for (let next = this.next(); next && next.size <= this.free; next = this.next()) {
      const at = this.waiting.indexOf(next);
      for (const earlier of this.waiting.slice(0, at)) earlier.overtaken += next.size;
      this.waiting = this.waiting.toSpliced(at, 1);
      this.free -= next.size;
      next.begin();
    }
  }

  /** The smallest delays others the least, but work that was overtaken by as much as it needs itself goes first. */
  private next(): Waiting | undefined {
    const overdue = this.waiting.find(({ size, overtaken }) => overtaken >= size);
    return overdue ?? this.waiting.toSorted((one, other) => one.size - other.size)[0];
  }
}
