// Decides for one request how many speculative tokens are worth trying, based on how many were accepted before.

import type { SpeculationCost, SpeculativeStep } from "./cost.ts";

/** How many tokens the acceptance rate of other requests counts for in a new request. */
const PRIOR_WEIGHT = 3;
/** The weight of every earlier draft of a request is multiplied by this with each new draft. */
const MEMORY = 0.9;
/** Weight of one draft in the acceptance rate of all requests. */
const NEWEST = 0.05;
/** With each new request, the rate returns by this share to its initial value: what did not pay is tried again. */
const RECOVERY = 0.02;
/** While drafts do not pay, one token is tried after each pause. Pauses double in length, up to this many tokens. */
const LONGEST_PAUSE = 256;

/** Share of speculative tokens of one kind that are accepted, over all requests. */
export class AcceptanceRate {
  private rate: number;

  constructor(private readonly initial: number) {
    this.rate = initial;
  }

  /** Returns the rate that a new request may expect. */
  expect(): number {
    this.rate += RECOVERY * (this.initial - this.rate);
    return this.rate;
  }

  record(tried: number, accepted: number): void {
    this.rate += NEWEST * (accepted / tried - this.rate);
  }
}

/** The acceptance of speculative tokens of one kind in one request. */
export class SpeculationGate {
  /** Whether the draft model cannot follow this request. */
  closed = false;
  private tried = PRIOR_WEIGHT;
  private accepted: number;
  private pause = 1;
  private pausedUntil = 0;

  constructor(private readonly overall: AcceptanceRate) {
    this.accepted = PRIOR_WEIGHT * overall.expect();
  }

  /** The probability that a token is accepted if those before it are. */
  get acceptance(): number {
    return this.accepted / this.tried;
  }

  /**
   * Returns how many tokens to draft for a request of `length` tokens, and how many milliseconds each saves: as many as
   * pay, else one after each pause.
   */
  next(
    length: number,
    cost: SpeculationCost,
    step: Omit<SpeculativeStep, "acceptance">,
  ): { count: number; savedMs: number } {
    if (length < this.pausedUntil) return { count: 0, savedMs: 0 };
    const best = cost.best({ ...step, acceptance: this.acceptance });
    if (best.count > 0) {
      this.pause = 1;
      return best;
    }
    this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
    this.pausedUntil = length + this.pause;
    return { count: 1, savedMs: 0 };
  }

  /** Records that the first `accepted` tokens of a draft were accepted. */
  record(drafted: number, accepted: number): void {
    // Tokens after the first rejected one tell nothing.
    const tried = accepted < drafted ? accepted + 1 : accepted;
    this.tried = MEMORY * this.tried + tried;
    this.accepted = MEMORY * this.accepted + accepted;
    this.overall.record(tried, accepted);
  }
}
