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
  run<T>(bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return abortable(this.holding(Math.min(bytes, this.most), signal, work), signal).finally(() => {
      // Work that leaves while it waits may have kept smaller work waiting.
      if (signal.aborted) this.beginThoseThatFit();
    });
  }

  private async holding<T>(bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.waiting = [...this.waiting, { bytes, signal, begin, overtaken: 0 }];
      this.beginThoseThatFit();
    });
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.free += bytes;
      this.beginThoseThatFit();
    }
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
