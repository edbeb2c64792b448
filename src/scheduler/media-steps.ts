// Media in steps of their own, between others' steps.

import type { KvCache, KvLimits } from "./kv-cache.ts";
import type { MediaStep } from "./plan.ts";
import type { PrefillLimits } from "./prefill.ts";
import type { Sequence } from "./sequence.ts";

export class MediaSteps {
  /** The last step was a medium's. */
  private before = false;

  constructor(
    private readonly limits: PrefillLimits & KvLimits,
    private readonly running: readonly Sequence[],
    private readonly kv: KvCache,
  ) {}

  /** The next piece of a medium, when one is due. */
  plan(now: number): MediaStep | undefined {
    const others = this.running.some((sequence) => sequence.decoding || !sequence.mediaNext);
    if (this.before && others) {
      this.before = false;
      return undefined;
    }
    for (const sequence of this.running) {
      const span = sequence.mediaNext;
      if (!span) continue;
      const offset = sequence.computed - span.start;
      const count = span.whole ? span.tokens : Math.min(span.tokens - offset, this.limits.batch);
      if (!this.kv.makeRoom(count, now)) continue;
      this.before = true;
      const position = sequence.position(span.start);
      const step = { key: sequence.key, sequence: sequence.id, adapters: sequence.adapters, span, offset };
      const starts = !sequence.started;
      sequence.started = true;
      return { ...step, count, position, starts };
    }
    return undefined;
  }

  /** A piece of a medium is in the cache; or it is not, and the whole medium is to be computed again. */
  apply(sequence: Sequence, { span, count }: MediaStep, done: boolean): void {
    sequence.computed = done ? sequence.computed + count : span.start;
    if (done) this.kv.extend(sequence);
    else this.kv.shorten(sequence);
  }
}
