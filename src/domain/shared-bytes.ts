// A memory budget shared by work of known size: work that does not fit waits.

import { abortable } from "./abortable.ts";

interface Waiting {
  readonly bytes: number;
  readonly signal: AbortSignal;
  readonly begin: () => void;
  /** Bytes of later work that has begun before this. */
  overtaken: number;
}

export class SharedBytes {
  private free: number;
  /** In order of arrival. */
  private waiting: readonly Waiting[] = [];

  /** `most`: bytes that all work may hold at the same time. */
  constructor(private readonly most: number) {
    this.free = most;
  }

  /**
   * Runs `work` once `bytes` bytes are free, or once all are free if it needs more. Throws the error of `work`, or the
   * signal's reason as soon as it is aborted; the bytes are not free again until `work` has really ended.
   */
  async run<T>(bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const free = await this.take(bytes, signal);
    return abortable(work().finally(free), signal);
  }

  /**
   * Takes `bytes` bytes once they are free, or all once they are free if it needs more. Returns the function that gives
   * them back. Throws the signal's reason when it is aborted first.
   */
  async take(bytes: number, signal: AbortSignal): Promise<() => void> {
    let held = Math.min(bytes, this.most);
    const turn = Promise.withResolvers<void>();
    this.waiting = [...this.waiting, { bytes: held, signal, begin: turn.resolve, overtaken: 0 }];
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
    for (let next = this.next(); next && next.bytes <= this.free; next = this.next()) {
      const at = this.waiting.indexOf(next);
      for (const earlier of this.waiting.slice(0, at)) earlier.overtaken += next.bytes;
      this.waiting = this.waiting.toSpliced(at, 1);
      this.free -= next.bytes;
      next.begin();
    }
  }

  /** The smallest delays others the least, but work that was overtaken by as much as it needs itself goes first. */
  private next(): Waiting | undefined {
    const overdue = this.waiting.find(({ bytes, overtaken }) => overtaken >= bytes);
    return overdue ?? this.waiting.toSorted((one, other) => one.bytes - other.bytes)[0];
  }
}
