// Learns what speculative tokens cost and save, so that as many are tried as pay.

import { blend } from "../cost/moving-average.ts";

/** Weight that a measurement keeps with each later step: what did not pay is tried again some day. */
const FADE = 0.998;
/** A step that takes so many times longer than expected was disturbed: it counts as if it took this long. */
const OUTLIER = 3;
/** What a speculative token is assumed to add to a step until that is measured, as a share of the step. */
const UNTRIED = 1 / 16;

/** A step in which speculative tokens may be tried. */
export interface SpeculativeStep {
  /** The probability that a token is accepted if those before it are. */
  readonly acceptance: number;
  /** Streams in the step. */
  readonly streams: number;
  /** Those of them that have speculative tokens. */
  readonly speculating: number;
  /** Most speculative tokens for each of these. */
  readonly most: number;
  /** They come from the draft model, which takes its time. */
  readonly usesDraftModel: boolean;
}

/** A number of speculative tokens, and the time that they add to a step. */
interface Added {
  readonly tokens: number;
  readonly ms: number;
}

/** The same as measured, and the steps since then. */
interface Measured extends Added {
  age: number;
}

/** Moving averages of measured calls, in milliseconds. */
export class SpeculationCost {
  /** A step without speculative tokens, by the streams in it. */
  private readonly plain: (number | undefined)[] = [];
  /**
   * What speculative tokens add to a step, by the logarithm of their number: the first may cost as much as a whole step, and
   * the next ones nearly nothing.
   */
  private readonly added: (Measured | undefined)[] = [];
  /** One decode call of the draft model: one more token for all who draft. */
  private round: number | undefined;
  /** One token that the draft model is fed to catch up. */
  private feed: number | undefined;

  /** So many steps were made, whether or not their time is known. */
  countSteps(made: number): void {
    for (const measured of this.added) if (measured) measured.age += made;
  }

  /** Records a step of streams alone, with all that is done around it. */
  recordStep(streams: number, tokens: number, ms: number): void {
    const plain = this.plain[streams];
    if (tokens === 0) this.plain[streams] = blend(plain, ms);
    else if (plain !== undefined) this.recordAdded(tokens, ms, plain);
  }

  recordDraft(rounds: number, ms: number): void {
    this.round = blend(this.round, ms / rounds);
  }

  recordFeed(tokens: number, ms: number): void {
    this.feed = blend(this.feed, ms / tokens);
  }

  /** Tokens that the draft model can be fed in so many milliseconds; `fallback` until anything was measured. */
  tokensWithin(ms: number, fallback: number): number {
    return this.feed === undefined ? fallback : Math.floor(ms / this.feed);
  }

  /** Milliseconds for feeding the draft model so many tokens; 0 until anything was measured. */
  feedMs(tokens: number): number {
    return tokens * (this.feed ?? 0);
  }

  /** Whether a step of so many streams without speculative tokens was measured: there is no estimate before. */
  knows(streams: number): boolean {
    return this.plain[streams] !== undefined;
  }

  /** How many tokens to try for each stream; 0 if a plain step is better. `savedMs`: by how much a token then costs less. */
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

  /** The faded measurements, the smallest number of tokens first. */
  private get known(): readonly Added[] {
    const measured = this.added.filter((size) => size !== undefined);
    return measured.map(({ tokens, ms, age }) => ({ tokens, ms: ms * FADE ** age }));
  }
}

const NONE: Added = { tokens: 0, ms: 0 };

/** Interpolates between the two nearest numbers that were measured. */
function addedBy(known: readonly Added[], tokens: number, plain: number): number {
  const larger = known.find((size) => size.tokens >= tokens);
  const smaller = known.findLast((size) => size.tokens <= tokens) ?? NONE;
  const slope = larger ? (larger.ms - smaller.ms) / Math.max(1, larger.tokens - smaller.tokens) : UNTRIED * plain;
  return smaller.ms + (tokens - smaller.tokens) * slope;
}
