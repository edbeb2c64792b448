// The interlude: the time between two steps of the streams, in which slices of prompts and pieces of media are computed. A
// step has one set of adapters, so after an interlude the streams of every set have a step before the next interlude.

import type { Sequence } from "../sequence.ts";

/** The rest of an interlude is used only if it is at least this share of the whole. */
const WORTHWHILE = 0.25;

export class Interlude {
  /** Keys of adapter sets whose streams have had no step since the last interlude. */
  private due = new Set<string>();
  private spent = 0;

  /** Returns how much of an interlude of `ms` milliseconds is left; 0 if too little, or if streams are due first. */
  leftOf(ms: number, streams: readonly Sequence[]): number {
    if (streams.length === 0) return ms;
    const left = ms - this.spent;
    return left < WORTHWHILE * ms || streams.some(({ adapterKey }) => this.due.has(adapterKey)) ? 0 : left;
  }

  /** Records that `ms` milliseconds were used; Infinity when the next piece is too long for the rest. */
  spend(ms: number): void {
    this.spent += ms;
  }

  /** Ends the interlude: a step comes next. */
  end(streams: readonly Sequence[]): void {
    if (this.spent > 0) this.due = new Set(streams.map(({ adapterKey }) => adapterKey));
    this.spent = 0;
  }

  /** Records that the streams of a set had their step. */
  served(adapterKey: string): void {
    this.due.delete(adapterKey);
  }
}
