// Learns what speculative tokens cost and save, so that the scheduler tries as many as pay off.

import { blend, blendSteady, OUTLIER } from "../cost/moving-average.ts";

/** Every measured cost is multiplied by this with each later step: what did not pay is eventually tried again. */
const FADE = 0.998;
/** Time that a speculative token is assumed to add to a step until measured, as a share of the step. */
const UNTRIED = 1 / 16;

/** A step in which speculative tokens may be tried. */
export interface SpeculativeStep {
  /** The probability that a token is accepted if those before it are. */
  readonly acceptance: number;
  /** Streams in the step. */
  readonly streams: number;
  /** How many of these streams have speculative tokens. */
  readonly speculating: number;
  /** Maximum number of speculative tokens for each of these. */
  readonly most: number;
  /** Whether the draft model makes the tokens, which takes additional time. */
  readonly usesDraftModel: boolean;
}

/** A number of speculative tokens, and the time that they add to a step. */
interface Added {
  readonly tokens: number;
  readonly ms: number;
}

/** A measurement of these; `age`: steps since then. */
interface Measured extends Added {
  age: number;
}

/** Moving averages of measured calls, in milliseconds. */
export class SpeculationCost {
  /** Time of a step without speculative tokens, by number of streams. */
  private readonly plain: (number | undefined)[] = [];
  /**
   * What speculative tokens add to a step, by the logarithm of their number: the first may cost as much as a whole step, and
   * the next ones almost nothing.
   */
  private readonly added: (Measured | undefined)[] = [];
  /** Time of one decode call of the draft model, which drafts one more token for each request that drafts. */
  private round: number | undefined;
  /** Time for one token that the draft model computes to catch up. */
  private feed: number | undefined;

  /** Counts `made` steps, whether or not their time is known. */
  countSteps(made: number): void {
    for (const measured of this.added) if (measured) measured.age += made;
  }

  /** Records a step of streams only; `ms` includes the messages around it. */
  recordStep(streams: number, tokens: number, ms: number): void {
    const plain = this.plain[streams];
    if (tokens === 0) this.plain[streams] = blendSteady(plain, ms);
    else if (plain !== undefined) this.recordAdded(tokens, ms, plain);
  }

  recordDraft(rounds: number, ms: number): void {
    this.round = blendSteady(this.round, ms / rounds);
  }

  recordFeed(tokens: number, ms: number): void {
    this.feed = blendSteady(this.feed, ms / tokens);
  }

  /** Returns how many tokens the draft model can catch up on in `ms` milliseconds; `fallback` until measured. */
  tokensWithin(ms: number, fallback: number): number {
    return this.feed === undefined ? fallback : Math.floor(ms / this.feed);
  }

  /** Returns the milliseconds for the draft model to catch up on `tokens` tokens; 0 until measured. */
  feedMs(tokens: number): number {
    return tokens * (this.feed ?? 0);
  }

  /** Returns whether a plain step of `streams` streams has been measured: before, there is no estimate. */
  knows(streams: number): boolean {
    return this.plain[streams] !== undefined;
  }

  /** Returns how many tokens to try for each stream, 0 if a plain step is better; `savedMs`: time saved per token. */
  best(step: SpeculativeStep): { readonly count: number; readonly savedMs: number } {
    const { acceptance, streams, speculating, most, usesDraftModel } = step;
    const plain = this.plain[streams] ?? 0;
    const round = usesDraftModel ? (this.round ?? 0) : 0;
    const { known } = this;
    let best = { count: 0, savedMs: 0 };
    let tokens = streams;
    for (let count = 1; count <= most; count++) {
      tokens += speculating * acceptance ** count;
      const ms = plain + addedBy(known, speculating * count, plain) + count * round;
      const savedMs = plain - (ms * streams) / tokens;
      if (savedMs > best.savedMs) best = { count, savedMs };
    }
    return best;
  }

  private recordAdded(tokens: number, ms: number, plain: number): void {
    const most = OUTLIER * (plain + addedBy(this.known, tokens, plain));
    const size = Math.ceil(Math.log2(tokens));
    const known = this.added[size];
    this.added[size] = {
      tokens: blend(known?.tokens, tokens),
      ms: blend(known?.ms, Math.max(0, Math.min(ms, most) - plain)),
      age: 0,
    };
  }

  /** The measurements with fading applied, the smallest number of tokens first. */
  private get known(): readonly Added[] {
    const measured = this.added.filter((size) => size !== undefined);
    return measured.map(({ tokens, ms, age }) => ({ tokens, ms: ms * FADE ** age }));
  }
}

const NONE: Added = { tokens: 0, ms: 0 };

/** Returns the time that `tokens` tokens add: interpolates between the two nearest measured numbers of tokens. */
function addedBy(known: readonly Added[], tokens: number, plain: number): number {
  const larger = known.find((size) => size.tokens >= tokens);
  const smaller = known.findLast((size) => size.tokens <= tokens) ?? NONE;
  const slope = larger ? (larger.ms - smaller.ms) / Math.max(1, larger.tokens - smaller.tokens) : UNTRIED * plain;
  return smaller.ms + (tokens - smaller.tokens) * slope;
}
