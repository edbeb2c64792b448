// The time between two steps of the streams, in which slices of prompts and pieces of media are computed. A step is of one
// set of adapters: whatever was computed between, the streams of each set have their step before there is more of it.

import type { Sequence } from "../sequence.ts";

/** What is left of the time is used from this share of it on. */
const WORTHWHILE = 0.25;

export class Interlude {
  /** Sets of adapters that had no step since the last one. */
  private due = new Set<string>();
  private spent = 0;

  /** What is left of `ms`, if that is worth while; else nothing. */
  leftOf(ms: number, streams: readonly Sequence[]): number {
    if (streams.length === 0) return ms;
    const left = ms - this.spent;
    return left < WORTHWHILE * ms || streams.some(({ adapterKey }) => this.due.has(adapterKey)) ? 0 : left;
  }

  /** Something was computed for so many milliseconds; infinite when what comes next is too long. */
  spend(ms: number): void {
    this.spent += ms;
  }

  /** A step comes next. */
  end(streams: readonly Sequence[]): void {
    if (this.spent > 0) this.due = new Set(streams.map(({ adapterKey }) => adapterKey));
    this.spent = 0;
  }

  /** A set had its step. */
  served(adapterKey: string): void {
    this.due.delete(adapterKey);
  }
}
