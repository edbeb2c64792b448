// Guessing ahead: rows with tokens that the running streams may say next, checked in the same step, and what came of them.
// What was said before is guessed from first; the draft model is asked for whoever does not repeat anything.

import { countGuesses, noGuesses, type GuessSource } from "../domain/guesses.ts";
import { Drafts, type DraftJob, type DraftLimits } from "./drafts.ts";
import type { KvCache } from "./kv-cache.ts";
import { rowOf, type PlanRow, type StepPlan } from "./plan.ts";
import type { Key, Sequence } from "./sequence.ts";

export interface SpeculationLimits extends DraftLimits {
  readonly layout: "unified" | "streams";
  /** Cells of the KV cache. */
  readonly cells: number;
}

/** Beside more streams, only what a draft model is rather sure of can pay: they fill a step by themselves. */
const MOST_REPEATING = 4;
/** Rows of a step that can be guesses; see svc_decode. */
const MOST_ROWS = 64;

export class Speculation {
  /** What was guessed so far. */
  readonly tally = noGuesses();
  private readonly drafts: Drafts;
  /** The draft model was asked before this step: it should not lag behind by more. */
  drafting = false;

  constructor(
    private readonly limits: SpeculationLimits,
    private readonly kv: KvCache,
  ) {
    this.drafts = new Drafts(limits);
  }

  /**
   * What the draft model is to do before the next step, when that is of these streams alone; `remaining`: tokens that a
   * request is likely to say yet.
   */
  planDrafts(decoding: readonly Sequence[], remaining: (sequence: Sequence) => number): readonly DraftJob[] {
    this.drafting = false;
    const { length: streams } = decoding;
    if (this.limits.draftMax === 0 || streams === 0 || streams > this.mostStreams) return [];
    const most = Math.floor(MOST_ROWS / streams);
    const room = (sequence: Sequence) => {
      const left = Math.min(most, sequence.maxTokens - sequence.generated - 1);
      return !sequence.guesses || this.repeated(sequence, streams, left).length > 0 ? 0 : left;
    };
    const jobs = this.drafts.plan(decoding, room, remaining);
    this.drafting = jobs.length > 0;
    return jobs;
  }

  /** See Drafts.apply. */
  applyDrafts(...result: Parameters<Drafts["apply"]>): void {
    this.drafts.apply(...result);
  }

  /** Adds guesses to the rows of a step in which only streams are computed; returns how many. */
  add(rows: PlanRow[], decoding: readonly Sequence[]): number {
    const { length: streams } = decoding;
    if (streams > this.mostStreams) return 0;
    const { batch, cells } = this.limits;
    const before = rows.length;
    for (const sequence of decoding) {
      if (!sequence.guesses) continue;
      const left = Math.min(batch, cells - this.kv.runningCells, before + MOST_ROWS) - rows.length;
      const room = Math.min(sequence.maxTokens - sequence.generated - 1, left);
      const repeated = this.repeated(sequence, streams, room);
      const guess = repeated.length > 0 ? "ngram" : "draft";
      const tokens = guess === "ngram" ? repeated : this.drafts.next(sequence, room);
      for (const [at, token] of tokens.entries()) {
        rows.push({ ...rowOf(sequence, sequence.length + at), token, sample: true, guess });
      }
    }
    return rows.length - before;
  }

  /** Learns from a finished step of streams; `ms`: of each, where several were made on end. `running` finds the requests. */
  judge(plan: StepPlan, running: (key: Key) => Sequence | undefined, ms: number): void {
    this.drafts.recordStep(plan.decodeRows, plan.guessRows, ms);
    if (plan.guessRows === 0) return;
    const series = new Map<Key, { readonly source: GuessSource; readonly from: number; offered: number }>();
    for (const { key, guess, index } of plan.rows) {
      const known = series.get(key);
      if (known) known.offered++;
      else if (guess) series.set(key, { source: guess, from: index, offered: 1 });
    }
    for (const [key, { source, from, offered }] of series) {
      const sequence = running(key);
      if (!sequence) continue;
      const right = sequence.computed - from;
      if (source === "ngram") sequence.guesses?.learn(offered, right, sequence.length);
      else this.drafts.learn(sequence, offered, right);
      countGuesses(this.tally, source, offered, right);
      if (right < offered) this.kv.discard(sequence);
    }
  }

  /** A request stops running; it has its sequence id yet. */
  release({ id }: Sequence): void {
    this.drafts.release(id);
  }

  /** In the stream layout, sequences with different numbers of rows are computed one after the other. */
  private get mostStreams(): number {
    return this.limits.layout === "streams" ? 1 : Number.POSITIVE_INFINITY;
  }

  private repeated(sequence: Sequence, streams: number, room: number): Int32Array {
    return (streams > MOST_REPEATING ? undefined : sequence.guesses?.next(sequence, room)) ?? NONE;
  }
}

const NONE = new Int32Array(0);
