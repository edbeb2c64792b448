// What the draft model is to do before a step, and what its KV cache holds. Its sequences have the ids of the model's and
// lag behind them: they are fed only for requests whose drafts pay, some of it in each step, and begin again when another
// request has the id.

import type { GuessCost } from "./cost.ts";
import { GuessExperience, GuessGate } from "./gate.ts";
import type { Key, Sequence } from "../sequence.ts";

export interface DraftLimits {
  /** Most tokens that are drafted for a request in a step; 0: there is no draft model. */
  readonly draftMax: number;
  /** Draft as many as pay; else always as many as may be. */
  readonly draftAdaptive: boolean;
  readonly batch: number;
  readonly stallBudgetMs: number;
}

/** What is done with one sequence of the draft model: cut at `position`, fed `tokens`, and asked for `count` more. */
export interface DraftJob {
  /** Absent: its request does not run any more. */
  readonly key: Key | undefined;
  readonly sequence: number;
  readonly position: number;
  readonly tokens: Int32Array;
  readonly count: number;
}

/** Tokens that the draft model has of a request: so many of its own, and behind them some that it wrote itself. */
interface Held {
  readonly key: Key;
  length: number;
  written: number;
}

/** Whoever lags further behind is fed first, and drafts in the next step. */
const SHORT_LAG = 16;
const FIRST_FEED = 64;
/** So many steps with drafts in a row, then one without: what that costs must not be forgotten. */
const SERIES = 32;
/** What the draft model is taken for in the beginning. */
const MOSTLY_RIGHT = 0.7;
const NONE = new Int32Array(0);

export class Drafts {
  private readonly experience = new GuessExperience(MOSTLY_RIGHT);
  private readonly held = new Map<number, Held>();
  private readonly gates = new WeakMap<Sequence, GuessGate>();
  /** Sequence ids that nobody runs, of which the draft model holds something. */
  private readonly released = new Set<number>();
  private drafted = new Map<Sequence, { readonly length: number; readonly tokens: Int32Array }>();
  private series = 0;

  constructor(
    private readonly limits: DraftLimits,
    private readonly cost: GuessCost,
  ) {}

  /**
   * What the draft model is to do for streams that decode together, when nobody else does anything. `room`: tokens that
   * may be drafted for each, 0 for whom there are other guesses. `remaining`: tokens that a request is likely to say yet.
   */
  plan(
    streams: readonly Sequence[],
    room: (sequence: Sequence) => number,
    remaining: (sequence: Sequence) => number,
  ): readonly DraftJob[] {
    this.drafted.clear();
    const { draftAdaptive, batch, stallBudgetMs } = this.limits;
    if (draftAdaptive && (!this.cost.knows(streams.length) || this.series++ >= SERIES)) {
      this.series = 0;
      return [];
    }
    let left = batch;
    let feed = Math.min(batch, Math.max(SHORT_LAG, this.cost.tokensWithin(stallBudgetMs, FIRST_FEED)));
    const jobs: DraftJob[] = [];
    for (const sequence of streams.toSorted((a, b) => a.id - b.id)) {
      const wanted = this.wanted(sequence, streams.length, room(sequence), remaining(sequence));
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

  /** The draft model has done what was planned: what it wrote for each job; of all, nothing, if it had no room. */
  apply(
    jobs: readonly DraftJob[],
    running: (key: Key) => Sequence | undefined,
    drafted: readonly (Int32Array | undefined)[] | undefined,
    rounds: number,
    ms: number,
  ): void {
    for (const [at, { key, sequence: id, position, tokens }] of jobs.entries()) {
      const sequence = key === undefined ? undefined : running(key);
      if (!sequence) continue;
      const written = drafted?.[at];
      if (!written) {
        this.held.delete(id);
        this.gateOf(sequence).closed = true;
        continue;
      }
      const length = position + tokens.length;
      this.held.set(id, { key: sequence.key, length, written: Math.max(0, written.length - 1) });
      if (written.length > 0) this.drafted.set(sequence, { length, tokens: written });
    }
    if (!drafted) return;
    const fed = jobs.reduce((sum, { tokens }) => sum + tokens.length, 0);
    if (jobs.every(({ count }) => count === 0)) this.cost.recordFeed(fed, ms);
    else if (jobs.every(({ count, tokens }) => count > 0 || tokens.length === 0)) this.cost.recordDraft(rounds, ms);
  }

  /** What was drafted for a request's next tokens. */
  next(sequence: Sequence, room: number): Int32Array {
    const drafted = this.drafted.get(sequence);
    return drafted?.length === sequence.length ? drafted.tokens.subarray(0, Math.max(0, room)) : NONE;
  }

  /** Of a request's drafted tokens that were checked, so many were right. */
  learn(sequence: Sequence, offered: number, right: number): void {
    this.gateOf(sequence).learn(offered, right);
    const held = this.heldBy(sequence);
    if (!held) return;
    held.length += Math.min(right, held.written);
    held.written = 0;
  }

  /** A request does not run any more. */
  release(id: number): void {
    if (this.held.delete(id)) this.released.add(id);
  }

  private heldBy({ id, key }: Sequence): Held | undefined {
    const held = this.held.get(id);
    return held?.key === key ? held : undefined;
  }

  private gateOf(sequence: Sequence): GuessGate {
    const gate = this.gates.get(sequence) ?? new GuessGate(this.experience);
    this.gates.set(sequence, gate);
    return gate;
  }

  /** How many tokens to draft for a request, now or when the draft model has caught up. */
  private wanted(sequence: Sequence, streams: number, room: number, remaining: number): number {
    const most = Math.min(this.limits.draftMax, room);
    const gate = this.gateOf(sequence);
    // The draft model sees no media.
    if (gate.closed || sequence.media.length > 0 || most < 1) return 0;
    if (!this.limits.draftAdaptive) return most;
    const { count, savedMs } = gate.next(sequence.length, this.cost, {
      streams,
      guessing: streams,
      most,
      drafted: true,
    });
    const lag = sequence.length - (this.heldBy(sequence)?.length ?? 0);
    const pays = lag <= SHORT_LAG || savedMs * remaining > this.cost.feedMs(lag);
    return pays ? count : 0;
  }
}
