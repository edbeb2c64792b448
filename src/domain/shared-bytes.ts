// A memory budget shared by work of known size: work that does not fit waits.

import { abortable } from "./abortable.ts";

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

export class SharedBytes {
  private free: number;
  /** Waiting work, the smallest first: it delays others the least. */
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
    return abortable(this.holding(Math.min(bytes, this.most), signal, work), signal);
  }

  private async holding<T>(bytes: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      const before = this.waiting.filter((other) => other.bytes <= bytes);
      this.waiting = [...before, { bytes, begin }, ...this.waiting.slice(before.length)];
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
    for (let [next] = this.waiting; next && next.bytes <= this.free; [next] = this.waiting) {
      this.waiting = this.waiting.slice(1);
      this.free -= next.bytes;
      next.begin();
    }
  }
}
