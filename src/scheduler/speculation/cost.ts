// Learns what guessing ahead costs and brings, so that as many tokens are guessed as pay.

import { blend } from "../cost/moving-average.ts";

/** A measurement is believed a little less with each step since then: what did not pay is tried again some day. */
const FADE = 0.998;
/** A step that takes so much longer than expected was disturbed: it counts for so much. */
const OUTLIER = 3;
/** What a guess is taken to add to a step until that is measured, as a share of it. */
const UNTRIED = 1 / 16;

/** Who guesses in a step, and how. */
export interface Guessing {
  /** The probability that a guess is right, if those before it are. */
  readonly right: number;
  /** Streams in the step, and those of them that guess. */
  readonly streams: number;
  readonly guessing: number;
  /** Tokens that may be guessed for each of these. */
  readonly most: number;
  /** The draft model guesses, and takes its time for it. */
  readonly drafted: boolean;
}

/** A number of guesses, and the time that they add to a step. */
interface Added {
  readonly guesses: number;
  readonly ms: number;
}

/** The same as measured, and the steps since the last time. */
interface Measured extends Added {
  age: number;
}

/** Moving averages of measured calls, in milliseconds. */
export class GuessCost {
  /** Of a step without guesses, by the streams in it. */
  private readonly plain: (number | undefined)[] = [];
  /**
   * What guesses add to a step, by the logarithm of their number: the first may cost as much as a whole step, and the next
   * ones nearly nothing.
   */
  private readonly added: (Measured | undefined)[] = [];
  /** One more token for all who draft. */
  private round: number | undefined;
  /** A token that the draft model is fed to catch up. */
  private feed: number | undefined;

  /** So many steps were made, whether it is known how long they took or not. */
  countSteps(made: number): void {
    for (const measured of this.added) if (measured) measured.age += made;
  }

  /** A step of streams alone, with all that is done around it. */
  recordStep(streams: number, guesses: number, ms: number): void {
    const plain = this.plain[streams];
    if (guesses === 0) this.plain[streams] = blend(plain, ms);
    else if (plain !== undefined) this.recordGuesses(guesses, ms, plain);
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

  /** What feeding so many tokens takes; nothing, until anything was measured. */
  feedMs(tokens: number): number {
    return tokens * (this.feed ?? 0);
  }

  /** Whether a step of so many streams was seen without guesses: nothing can be said before. */
  knows(streams: number): boolean {
    return this.plain[streams] !== undefined;
  }

  /** How many tokens to guess for each; 0 where a step without is the better one. `savedMs`: what a token then costs less. */
  best({ right, streams, guessing, most, drafted }: Guessing): { readonly count: number; readonly savedMs: number } {
    const plain = this.plain[streams] ?? 0;
    const round = drafted ? (this.round ?? 0) : 0;
    const { known } = this;
    let best = { count: 0, savedMs: 0 };
    let tokens = streams;
    for (let count = 1; count <= most; count++) {
      tokens += guessing * right ** count;
      const ms = plain + addedBy(known, guessing * count, plain) + count * round;
      const savedMs = plain - (ms * streams) / tokens;
      if (savedMs > best.savedMs) best = { count, savedMs };
    }
    return best;
  }

  private recordGuesses(guesses: number, ms: number, plain: number): void {
    const most = OUTLIER * (plain + addedBy(this.known, guesses, plain));
    const size = Math.ceil(Math.log2(guesses));
    const known = this.added[size];
    this.added[size] = {
      guesses: blend(known?.guesses, guesses),
      ms: blend(known?.ms, Math.max(0, Math.min(ms, most) - plain)),
      age: 0,
    };
  }

  /** What is believed of each size that was measured, the smallest first. */
  private get known(): readonly Added[] {
    const measured = this.added.filter((size) => size !== undefined);
    return measured.map(({ guesses, ms, age }) => ({ guesses, ms: ms * FADE ** age }));
  }
}

const NONE: Added = { guesses: 0, ms: 0 };

/** Between two sizes that are known on the line through both. */
function addedBy(known: readonly Added[], guesses: number, plain: number): number {
  const larger = known.find((size) => size.guesses >= guesses);
  const smaller = known.findLast((size) => size.guesses <= guesses) ?? NONE;
  const slope = larger ? (larger.ms - smaller.ms) / Math.max(1, larger.guesses - smaller.guesses) : UNTRIED * plain;
  return smaller.ms + (guesses - smaller.guesses) * slope;
}
