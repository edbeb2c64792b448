// Memory that work of known size shares: what does not fit waits.

import { abortable } from "./abortable.ts";

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

export class SharedBytes {
  private free: number;
  /** The smallest first: it holds up others for the shortest time. */
  private waiting: readonly Waiting[] = [];

  /** `most`: bytes that all work may hold at the same time. */
  constructor(private readonly most: number) {
    this.free = most;
  }

  /**
   * Runs `work` once so many bytes are free for it, or all of them where it needs more. Throws what it throws, or the signal's
   * reason at once; the bytes are free again when `work` has really ended.
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
