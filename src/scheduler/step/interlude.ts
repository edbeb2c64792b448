// The interlude: the time between two steps of the streams, in which slices of prompts and pieces of media are computed. A
// step has one set of adapters: after an interlude, the streams of each set have their step before the next one.

import type { Sequence } from "../sequence.ts";

/** The rest of the time is used only if it is at least this share. */
const WORTHWHILE = 0.25;

export class Interlude {
  /** Keys of adapter sets that had no step since the last interlude. */
  private due = new Set<string>();
  private spent = 0;

  /** What is left of `ms` if that is enough to be of use, else 0. */
  leftOf(ms: number, streams: readonly Sequence[]): number {
    if (streams.length === 0) return ms;
    const left = ms - this.spent;
    return left < WORTHWHILE * ms || streams.some(({ adapterKey }) => this.due.has(adapterKey)) ? 0 : left;
  }

  /** So many milliseconds were used; infinite when the next piece is too long for the rest. */
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
