// Which prompts are computed next, and how much of them in one step.

import { rowOf, type PlanRow } from "../plan.ts";
import type { Key, Sequence } from "../sequence.ts";
import type { StepCost } from "../cost/step-cost.ts";

/** Prefill step while nobody decodes: bounds how long new requests go unnoticed. */
const QUIET_STEP_MS = 1000;
/** What each of several requests that wait for their first token adds to a step. */
const CROWD_SHARE_MS = 200;
/** The longest that streams wait in a step for what several requests need. */
export const CROWD_STEP_MS = 1500;
/** The same while nobody decodes: only newcomers wait for it to end, and together prompts start and end in step. */
const QUIET_CROWD_STEP_MS = 4000;
/** Prefill reaches its full rate at about this size; smaller steps would waste the weights that they read. */
const EFFICIENT_CHUNK = 128;
/** Attention takes so many rows at once; a last few cost as much. */
const TILE_ROWS = 64;

export interface PrefillLimits {
  /** Most rows in one decode call. */
  readonly batch: number;
  /** Longest time between two tokens of running streams while other requests' prompts are computed, in milliseconds. */
  readonly stallBudgetMs: number;
}

/** Whose prompts are computed at all: background requests come after all others, whatever adapters these have. */
export function unfinished(running: readonly Sequence[]): Sequence[] {
  const prompts = running.filter((sequence) => !sequence.decoding);
  const urgent = prompts.filter(({ background }) => !background);
  return urgent.length > 0 ? urgent : prompts;
}

/**
 * Shortest remaining work first, so that a short question does not wait for a long document; the time that a request has
 * waited counts against its work, so that the document is not overtaken for longer than it takes itself.
 */
export function byRemainingWork(sequences: readonly Sequence[], cost: StepCost, now: number): Sequence[] {
  const score = (sequence: Sequence) => cost.prefillMs(sequence.remaining) - (now - sequence.addedAt);
  return sequences.toSorted((a, b) => score(a) - score(b) || a.key - b.key);
}

/** Rows of prompts, in their order, `budget` at most; `endOf`: up to where a prompt can be computed in one go. */
export function promptRows(
  prompts: readonly Sequence[],
  budget: number,
  endOf: (prompt: Sequence) => number,
): { readonly rows: PlanRow[]; readonly started: Key[] } {
  const rows: PlanRow[] = [];
  const started: Key[] = [];
  for (const prompt of prompts) {
    const left = budget - rows.length;
    // A piece of a prompt beside whole ones would be one more pass over the weights in the stream KV layout.
    if (left <= 0 || (rows.length > 0 && endOf(prompt) - prompt.computed > left)) break;
    const end = Math.min(endOf(prompt), prompt.computed + left);
    if (!prompt.started && end > prompt.computed) {
      prompt.started = true;
      started.push(prompt.key);
    }
    for (let index = prompt.computed; index < end; index++) rows.push(rowOf(prompt, index));
  }
  return { rows, started };
}

export class PrefillBudget {
  /** Requests with short prompts that wait for their first token together, until the last of them has it. */
  private crowd = 0;

  constructor(
    private readonly limits: PrefillLimits,
    private readonly cost: StepCost,
  ) {}

  /** Streams wait longer for a crowd than for a single newcomer: its prompts are computed together, in full batches. */
  get isForCrowd(): boolean {
    return this.crowd > 1;
  }

  /** These are all requests that still need some of their prompt. */
  waiting(prefilling: readonly Sequence[]): void {
    const { batch } = this.limits;
    const left = prefilling.reduce((sum, { remaining }) => sum + remaining, 0);
    // What is left of long prompts makes no crowd.
    const short = prefilling.filter(({ length, cached = 0 }) => length - cached <= batch).length;
    // The last of a crowd are not cut into the small chunks of a single newcomer.
    this.crowd = prefilling.length === 0 ? 0 : Math.max(left <= batch ? this.crowd : 0, short);
  }

  /**
   * Prompt tokens that the next step may hold, when `prefilling` are the requests that still need some; so many `steps`
   * share what streams wait for.
   */
  tokens(decodeRows: number, prefilling: readonly Sequence[], steps: number): number {
    if (prefilling.length === 0) return 0;
    if (decodeRows > 0) return this.cost.tokensBeside(this.msBeside(decodeRows) / steps);
    const ms = this.isForCrowd ? QUIET_CROWD_STEP_MS : QUIET_STEP_MS;
    const tokens = Math.min(this.cost.tokensWithin(ms, this.limits.batch), this.limits.batch);
    return Math.max(EFFICIENT_CHUNK, tokens - (tokens % TILE_ROWS));
  }

  /** How long prompts may be computed between two steps of so many streams. */
  sliceMs(decodeRows: number): number {
    return decodeRows === 0 ? QUIET_STEP_MS : this.msBeside(decodeRows);
  }

  /** What may make the time between two tokens of so many streams longer: up to the stall budget, or to twice a step. */
  pauseMs(decodeRows: number): number {
    const step = this.cost.decodeStepMs(decodeRows);
    return Math.max(this.limits.stallBudgetMs - step, step);
  }

  private msBeside(decodeRows: number): number {
    const crowd = this.isForCrowd ? Math.min(CROWD_SHARE_MS * this.crowd, CROWD_STEP_MS) : 0;
    return Math.max(this.pauseMs(decodeRows), crowd);
  }
}
