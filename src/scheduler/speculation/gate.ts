// How far one request's next tokens are worth guessing.

import type { GuessCost, Guessing } from "./cost.ts";

/** Guesses that the experience with other requests counts for in the beginning. */
const PRIOR_WEIGHT = 3;
/** Weight that a guess keeps with each later series. */
const MEMORY = 0.9;
/** Weight of one series in what is known of all requests. */
const NEWEST = 0.05;
/** Each new request is taken for a little better than the ones before: what did not pay is tried again some day. */
const HOPE = 0.02;
/** Where drafting does not pay, one token is tried now and then: after twice as many tokens each time, up to this. */
const LONGEST_PAUSE = 256;

/** How often guesses of one kind are right, whoever's they are. */
export class GuessExperience {
  private right: number;

  /** `hope`: what the first requests are taken for. */
  constructor(private readonly hope: number) {
    this.right = hope;
  }

  /** What a new request may expect. */
  expect(): number {
    this.right += HOPE * (this.hope - this.right);
    return this.right;
  }

  learn(tried: number, right: number): void {
    this.right += NEWEST * (right / tried - this.right);
  }
}

/** How guesses of one kind go for one request. */
export class GuessGate {
  /** The draft model cannot follow this request. */
  closed = false;
  private tried = PRIOR_WEIGHT;
  private right: number;
  private pause = 1;
  private pausedUntil = 0;

  constructor(private readonly experience: GuessExperience) {
    this.right = PRIOR_WEIGHT * experience.expect();
  }

  /** The probability that a guess is right, if those before it are. */
  get expected(): number {
    return this.right / this.tried;
  }

  /**
   * How many tokens to draft for a request of so many tokens, and what is saved by each, in milliseconds: as many as pay, or
   * one now and then.
   */
  next(length: number, cost: GuessCost, guessing: Omit<Guessing, "right">): { count: number; savedMs: number } {
    if (length < this.pausedUntil) return { count: 0, savedMs: 0 };
    const best = cost.best({ ...guessing, right: this.expected });
    if (best.count > 0) {
      this.pause = 1;
      return best;
    }
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    this.pausedUntil = length + this.pause;
    return { count: 1, savedMs: 0 };
  }

  /** Of a series of so many, the first `right` were right. */
  learn(offered: number, right: number): void {
    // Those behind the first wrong one say nothing.
    const tried = right < offered ? right + 1 : right;
    this.tried = MEMORY * this.tried + tried;
    this.right = MEMORY * this.right + right;
    this.experience.learn(tried, right);
  }
}
