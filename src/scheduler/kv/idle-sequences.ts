// Idle sequences of the KV cache: finished and preempted requests left them behind, and no running request uses them.

import type { MediaSpan } from "../media-span.ts";
import type { Sequence } from "../sequence.ts";

/** When a sequence was left, and by whom. */
export interface Left {
  /** When a request last used the sequence, in milliseconds. */
  readonly at: number;
  /** The request that left the sequence, if that request was preempted. */
  readonly owner?: Pick<Sequence, "preempted">;
  /** Whether a background request left the sequence: nobody else continues it. */
  readonly passing?: boolean;
}

interface Idle extends Left {
  readonly media: readonly MediaSpan[];
  /** How many requests have used the sequence. */
  readonly uses: number;
}

/** Added to every age, so that ages that differ by less than this count as about equal. */
const AGE_GRAIN_MS = 1000;

/** A passing sequence is this many times as stale: it is lost before almost any other. */
const PASSING = 1e6;

/** Returns whether nobody will use a sequence again. */
export const isPassing = ({ passing, owner }: Left): boolean => passing === true && !owner?.preempted;

/** Returns a score: the larger, the less likely the sequence is to be used again. */
export const staleness = (left: Left & Pick<Idle, "uses">, now: number): number =>
  ((now - left.at + AGE_GRAIN_MS) / (1 + left.uses)) * (isPassing(left) ? PASSING : 1);

export class IdleSequences extends Map<number, Idle> {
  /** Records that a request has copied a sequence, which stays idle. */
  use(id: number, now: number): void {
    const idle = this.get(id);
    if (idle) this.set(id, { ...idle, at: now, uses: idle.uses + 1 });
  }

  /**
   * Returns the sequence whose loss is expected to cost the least, or undefined. `worth`: how much is lost with a
   * sequence, relative to what its loss frees; 0 excludes the sequence.
   */
  leastValuable(now: number, worth: (id: number) => number): number | undefined {
    let found: { id: number; score: number } | undefined;
    for (const [id, idle] of this) {
      const value = worth(id);
      const score = staleness(idle, now) / value;
      if (value > 0 && (!found || score > found.score)) found = { id, score };
    }
    return found?.id;
  }
}
