// Moves streams side by side. Where sequences lie apart, a step reads the weights once for each run of consecutive ids,
// and streams that end leave gaps. A paged cache moves a sequence without a copy.

import type { StepCost } from "../cost/step-cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import type { SchedulerLimits } from "../limits.ts";
import type { Sequence } from "../sequence.ts";
import type { Speculation } from "../speculation/speculation.ts";

/** Share of a step that one more pass over the weights takes at least: 0.2 to 0.3 measured with 8 to 32 streams. */
const PASS_SHARE = 0.2;
/** Milliseconds of a move, with that of the idle sequence that makes place: 1 to 2 measured. */
const MOVE_MS = 3;
/** Moves must pay within this many steps. */
const HORIZON = 32;
/** Maximum number of moves before a step. */
const MOST_MOVES = 4;

export class Adjacency {
  constructor(
    private readonly limits: SchedulerLimits,
    private readonly kv: Pick<KvCache, "isRunning" | "relocate">,
    private readonly cost: Pick<StepCost, "decodeStepMs">,
    private readonly speculation: Pick<Speculation, "release">,
  ) {}

  /** Moves some of the streams of the next step if these lie in several runs of ids and moving them pays. */
  restore(streams: readonly Sequence[], now: number): void {
    const { layout, canTrim } = this.limits;
    const ids = new Set(streams.map(({ id }) => id));
    const gaps = streams.filter(({ id }) => !ids.has(id - 1)).length - 1;
    if (layout !== "paged" || !canTrim || gaps < 1) return;
    const window = this.windowOf(ids);
    const outside = streams.filter(({ id }) => !window.includes(id));
    const steps = Math.min(HORIZON, ...outside.map(({ mostLeft }) => mostLeft));
    const saved = gaps * PASS_SHARE * this.cost.decodeStepMs(streams.length) * steps;
    if (window.length === 0 || saved <= outside.length * MOVE_MS) return;
    const places = window.filter((id) => !ids.has(id));
    for (const [at, to] of places.slice(0, MOST_MOVES).entries()) {
      const sequence = outside[at] as Sequence;
      // The draft model's sequence keeps its id.
      this.speculation.release(sequence);
      this.kv.relocate(sequence, to, now);
    }
  }

  /** Returns as many consecutive ids as these, none of another running request: the ones with the fewest to move. */
  private windowOf(ids: ReadonlySet<number>): readonly number[] {
    let best: number[] = [];
    let most = -1;
    for (let from = 0; from + ids.size <= this.limits.sequences; from++) {
      const window = Array.from({ length: ids.size }, (_, at) => from + at);
      const kept = window.filter((id) => ids.has(id)).length;
      if (kept <= most || window.some((id) => !ids.has(id) && this.kv.isRunning(id))) continue;
      [best, most] = [window, kept];
    }
    return best;
  }
}
