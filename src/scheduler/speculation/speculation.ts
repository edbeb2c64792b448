// Guessing ahead: rows with tokens that the running streams may say next, checked in the same step, and what came of them.
// What was said before is guessed from first; the draft model is asked for whoever does not repeat anything.

import { countGuesses, noGuesses, type GuessSource } from "../../domain/speculation.ts";
import { Drafts, type DraftJob, type DraftLimits } from "./drafts.ts";
import { GuessCost } from "./cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import { rowOf, type PlanRow, type StepPlan } from "../plan.ts";
import { PromptLookup } from "./prompt-lookup.ts";
import type { Key, Sequence } from "../sequence.ts";

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
  private readonly cost = new GuessCost();
  private readonly lookup = new PromptLookup(this.cost);
  private readonly drafts: Drafts;
  /** The draft model was asked before this step: it should not lag behind by more. */
  drafting = false;
  /** When the newest step was planned, if it is of streams alone; what it was; and the time of drafts since then. */
  private plannedAt = 0;
  private newest: { readonly streams: number; readonly guesses: number; readonly made: number } | undefined;
  private draftMs = 0;

  constructor(
    private readonly limits: SpeculationLimits,
    private readonly kv: KvCache,
  ) {
    this.drafts = new Drafts(limits, this.cost);
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
      return !sequence.guess || this.repeated(sequence, streams, left).length > 0 ? 0 : left;
    };
    const jobs = this.drafts.plan(decoding, room, remaining);
    this.drafting = jobs.length > 0;
    return jobs;
  }

  /** See Drafts.apply. */
  applyDrafts(...result: Parameters<Drafts["apply"]>): void {
    this.draftMs += result[4];
    this.drafts.apply(...result);
  }

  /** Adds guesses to the rows of a step in which only streams are computed; returns how many. */
  add(rows: PlanRow[], decoding: readonly Sequence[], now: number): number {
    this.recordStep(now);
    const { length: streams } = decoding;
    if (streams > this.mostStreams) return 0;
    const { batch, cells } = this.limits;
    const before = rows.length;
    for (const sequence of decoding) {
      if (!sequence.guess) continue;
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

  /** Learns from a finished step of streams alone, or so many on end. `running` finds the requests. */
  judge(plan: StepPlan, running: (key: Key) => Sequence | undefined, made: number): void {
    this.cost.countSteps(made);
    this.newest = { streams: plan.decodeRows, guesses: plan.guessRows, made };
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
      if (source === "ngram") this.lookup.learn(sequence, offered, right);
      else this.drafts.learn(sequence, offered, right);
      countGuesses(this.tally, source, offered, right);
      if (right < offered) this.kv.discard(sequence);
    }
  }

  /** Something else than streams was computed: how long a step took with all that is around it cannot be told. */
  interrupted(): void {
    this.newest = undefined;
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
    return streams > MOST_REPEATING ? NONE : this.lookup.next(sequence, streams, room);
  }

  /**
   * The step before ends where this one is planned: messages are sent and read after each, and guesses save steps on end,
   * which have that in common.
   */
  private recordStep(now: number): void {
    const { newest, plannedAt, draftMs } = this;
    if (newest) this.cost.recordStep(newest.streams, newest.guesses, (now - plannedAt - draftMs) / newest.made);
    this.newest = undefined;
    this.plannedAt = now;
    this.draftMs = 0;
  }
}

const NONE = new Int32Array(0);
