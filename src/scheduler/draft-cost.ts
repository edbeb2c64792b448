// Learns what drafting costs and brings, so that as many tokens are drafted as pay.

import { blend } from "./moving-average.ts";

/** Moving averages of measured calls, in milliseconds. */
export class DraftCost {
  /** Of a step without guesses, by the streams in it. */
  private readonly plain: (number | undefined)[] = [];
  /** What a guess adds to a step. */
  private row: number | undefined;
  /** One more token for all who draft. */
  private round: number | undefined;
  /** A token that the draft model is fed to catch up. */
  private feed: number | undefined;

  /** A step of streams alone. */
  recordStep(streams: number, guesses: number, ms: number): void {
    const plain = this.plain[streams];
    if (guesses === 0) this.plain[streams] = blend(plain, ms);
    else if (plain !== undefined) this.row = blend(this.row, Math.max(0, ms - plain) / guesses);
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

  /**
   * How many tokens to draft, at most `most`, where each is right with probability `right` if those before it are; 0 where
   * a step without is the better one. `savedMs`: what a token then costs less.
   */
  best(right: number, streams: number, most: number): { readonly count: number; readonly savedMs: number } {
    const plain = this.plain[streams] ?? 0;
    let best = { count: 0, savedMs: 0 };
    let tokens = 1;
    for (let count = 1; count <= most; count++) {
      tokens += right ** count;
      const ms = plain + count * (streams * (this.row ?? 0) + (this.round ?? 0));
      const savedMs = plain - ms / tokens;
      if (savedMs > best.savedMs) best = { count, savedMs };
    }
    return best;
  }
}
