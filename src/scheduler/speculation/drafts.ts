// Plans the draft model's jobs before a step and tracks what its KV cache holds. Its sequences have the same ids as the
// large model's and lag behind them: they catch up only for requests whose drafts pay, a part in each step. When
// another request gets an id, the draft model's sequence starts from scratch.

import type { SchedulerLimits } from "../limits.ts";
import type { Key, Sequence } from "../sequence.ts";
import type { SpeculationCost } from "./cost.ts";
import { AcceptanceRate, SpeculationGate } from "./gate.ts";

/** A job for the draft model: trim a sequence at `position`, compute `tokens`, then draft `count` more. */
export interface DraftJob {
  /** Undefined: no request uses this sequence any more. */
  readonly key: Key | undefined;
  readonly sequence: number;
  readonly position: number;
  readonly tokens: Int32Array;
  readonly count: number;
}

/** Results of the draft model. */
export interface DraftsDone {
  readonly jobs: readonly DraftJob[];
  /** Drafted tokens of each job; undefined where the draft model cannot follow. Absent when its cache was full. */
  readonly tokens?: readonly (Int32Array | undefined)[];
  /** Decode calls made. */
  readonly rounds: number;
  readonly ms: number;
}

/** What the draft model's cache holds of a request: its first `length` tokens, then `drafted` drafted tokens. */
interface Held {
  readonly key: Key;
  length: number;
  drafted: number;
}

/** A sequence that lags behind by more tokens than this only catches up in this step and drafts in a later one. */
const SHORT_LAG = 16;
const FIRST_FEED = 64;
/** After this many steps with drafts, one step without drafts keeps the cost of a plain step up to date. */
const STEPS_BETWEEN_PLAIN = 32;
/** Acceptance rate that is assumed at first. */
const INITIAL_ACCEPTANCE = 0.7;
const NONE = new Int32Array(0);

export class Drafts {
  private readonly acceptance = new AcceptanceRate(INITIAL_ACCEPTANCE);
  private readonly held = new Map<number, Held>();
  private readonly gates = new WeakMap<Sequence, SpeculationGate>();
  /** Ids without a running request, for which the draft model's cache still holds tokens. */
  private readonly released = new Set<number>();
  private drafted = new Map<Sequence, { readonly length: number; readonly tokens: Int32Array }>();
  private stepsWithDrafts = 0;

  constructor(
    private readonly limits: Pick<SchedulerLimits, "draftMax" | "draftAdaptive" | "batch" | "stallBudgetMs">,
    private readonly cost: SpeculationCost,
  ) {}

  /**
   * Plans the next jobs, for streams that decode together while nothing else is computed. `limitOf`: maximum tokens to
   * draft for a request, 0 if it has speculative tokens already. `likelyLeft`: tokens that it is still likely to
   * generate.
   */
  plan(
    streams: readonly Sequence[],
    limitOf: (sequence: Sequence) => number,
    likelyLeft: (sequence: Sequence) => number,
  ): readonly DraftJob[] {
    this.drafted.clear();
    const { draftAdaptive, batch, stallBudgetMs } = this.limits;
    if (draftAdaptive && (!this.cost.knows(streams.length) || this.stepsWithDrafts++ >= STEPS_BETWEEN_PLAIN)) {
      this.stepsWithDrafts = 0;
      return [];
    }
    let left = batch;
    let feed = Math.min(batch, Math.max(SHORT_LAG, this.cost.tokensWithin(stallBudgetMs, FIRST_FEED)));
    const jobs: DraftJob[] = [];
    for (const sequence of streams.toSorted((a, b) => a.id - b.id)) {
      const wanted = this.wanted(sequence, streams.length, limitOf(sequence), likelyLeft(sequence));
      if (wanted === 0) continue;
      const { key, id, ids, length } = sequence;
      const position = this.heldBy(sequence)?.length ?? 0;
      const lag = length - position;
      const catchesUp = lag > SHORT_LAG;
      const fed = Math.min(lag, left, catchesUp ? feed : lag);
      if (fed === 0 || (fed < lag && !catchesUp)) continue;
      left -= fed;
      if (catchesUp) feed -= fed;
      const tokens = ids.subarray(position, position + fed);
      jobs.push({ key, sequence: id, position, tokens, count: catchesUp ? 0 : wanted });
    }
    if (jobs.length === 0) return jobs;
    const cleared = [...this.released].map((sequence) => ({
      key: undefined,
      sequence,
      position: 0,
      tokens: NONE,
      count: 0,
    }));
    this.released.clear();
    return [...cleared, ...jobs];
  }

  /** Applies the results of jobs. `running` returns the request with a key, if it still exists. */
  apply({ jobs, tokens: drafted, rounds, ms }: DraftsDone, running: (key: Key) => Sequence | undefined): void {
    let failed = drafted === undefined;
    for (const [at, { key, sequence: id, position, tokens }] of jobs.entries()) {
      const sequence = key === undefined ? undefined : running(key);
      if (!sequence) continue;
      const draft = drafted?.[at];
      if (!draft) {
        failed = true;
        this.release(id);
        this.gateOf(sequence).closed = true;
        continue;
      }
      const length = position + tokens.length;
      this.held.set(id, { key: sequence.key, length, drafted: Math.max(0, draft.length - 1) });
      if (draft.length > 0) this.drafted.set(sequence, { length, tokens: draft });
    }
    // What was not computed took no time, which is no price.
    if (failed) return;
    const fed = jobs.reduce((sum, { tokens }) => sum + tokens.length, 0);
    if (jobs.every(({ count }) => count === 0)) this.cost.recordFeed(fed, ms);
    else if (jobs.every(({ count, tokens }) => count > 0 || tokens.length === 0)) this.cost.recordDraft(rounds, ms);
  }

  /** Returns the draft for a request's next tokens, at most `limit`. */
  next(sequence: Sequence, limit: number): Int32Array {
    const drafted = this.drafted.get(sequence);
    return drafted?.length === sequence.length ? drafted.tokens.subarray(0, Math.max(0, limit)) : NONE;
  }

  /** Records that the first `accepted` tokens of a request's draft were accepted. */
  record(sequence: Sequence, drafted: number, accepted: number): void {
    this.gateOf(sequence).record(drafted, accepted);
    const held = this.heldBy(sequence);
    if (!held) return;
    held.length += Math.min(accepted, held.drafted);
    held.drafted = 0;
  }

  /** Records that the request of a sequence no longer runs. */
  release(id: number): void {
    if (this.held.delete(id)) this.released.add(id);
  }

  private heldBy({ id, key }: Sequence): Held | undefined {
    const held = this.held.get(id);
    return held?.key === key ? held : undefined;
  }

  private gateOf(sequence: Sequence): SpeculationGate {
    const gate = this.gates.get(sequence) ?? new SpeculationGate(this.acceptance);
    this.gates.set(sequence, gate);
    return gate;
  }

  /** Returns how many tokens to draft for a request, now or once the draft model has caught up. */
  private wanted(sequence: Sequence, streams: number, limit: number, likelyLeft: number): number {
    const most = Math.min(this.limits.draftMax, limit);
    const gate = this.gateOf(sequence);
    // The draft model sees no media.
    if (gate.closed || sequence.media.length > 0 || most < 1) return 0;
    if (!this.limits.draftAdaptive) return most;
    const { count, savedMs } = gate.next(sequence.length, this.cost, {
      streams,
      speculating: streams,
      most,
      usesDraftModel: true,
    });
    const lag = sequence.length - (this.heldBy(sequence)?.length ?? 0);
    const pays = lag <= SHORT_LAG || savedMs * likelyLeft > this.cost.feedMs(lag);
    return pays ? count : 0;
  }
}
