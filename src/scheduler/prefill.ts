// Which prompts are computed next, and how much of them in one step.

import type { Sequence } from "./sequence.ts";
import type { StepCost } from "./step-cost.ts";

/** Prefill step while nobody decodes: bounds how long new requests go unnoticed. */
const QUIET_STEP_MS = 250;
/** What each of several requests that wait for their first token adds to a step, and the longest such step. */
const CROWD_SHARE_MS = 200;
const CROWD_STEP_MS = 1500;
/** The same while nobody decodes: only newcomers wait for it to end, and together prompts start and end in step. */
const QUIET_CROWD_STEP_MS = 4000;
/** Prefill reaches its full rate at about this size; smaller steps would waste the weights that they read. */
const EFFICIENT_CHUNK = 128;

export interface PrefillLimits {
  /** Most rows in one decode call. */
  readonly batch: number;
  /** Longest pause of running streams for other requests' prompts, in milliseconds. */
  readonly stallBudgetMs: number;
}

/**
 * Shortest remaining work first, so that a short question does not wait for a long document; the time that a request has
 * waited counts against its work, so that the document is not overtaken for longer than it takes itself. Background requests
 * come after all others.
 */
export function byRemainingWork(sequences: readonly Sequence[], cost: StepCost, now: number): Sequence[] {
  const score = (sequence: Sequence) => cost.prefillMs(sequence.remaining) - (now - sequence.addedAt);
  const rank = ({ background }: Sequence) => Number(background);
  return sequences.toSorted((a, b) => rank(a) - rank(b) || score(a) - score(b) || a.key - b.key);
}

export class PrefillBudget {
  /** Requests with short prompts that wait for their first token together, until the last of them has it. */
  private crowd = 0;

  constructor(
    private readonly limits: PrefillLimits,
    private readonly cost: StepCost,
  ) {}

  /** Prompt tokens that the next step may hold, when `prefilling` are the requests that still need some. */
  tokens(decodeRows: number, prefilling: readonly Sequence[]): number {
    if (prefilling.length === 0) return (this.crowd = 0);
    const { stallBudgetMs, batch } = this.limits;
    const left = prefilling.reduce((sum, { remaining }) => sum + remaining, 0);
    const short = prefilling.filter(({ remaining }) => remaining <= batch).length;
    // The last of a crowd are not cut into the small chunks of a single newcomer.
    this.crowd = Math.max(left <= batch ? this.crowd : 0, short);
    const several = this.crowd > 1;
    if (decodeRows === 0) {
      const ms = several ? QUIET_CROWD_STEP_MS : QUIET_STEP_MS;
      return Math.max(EFFICIENT_CHUNK, this.cost.tokensWithin(ms, batch));
    }
    const crowd = several ? Math.min(CROWD_SHARE_MS * this.crowd, CROWD_STEP_MS) : 0;
    const patience = Math.max(stallBudgetMs, this.cost.decodeStepMs(decodeRows));
    return this.cost.tokensBeside(Math.max(patience, crowd));
  }
}
