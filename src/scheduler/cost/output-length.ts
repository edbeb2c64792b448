// How long answers are here, learned from those that ended.

/** Weight of the newest answer. */
const NEWEST = 0.2;
/** An answer that is longer than most goes on for at least this share of them. */
const LEAST_SHARE = 0.25;

export class OutputLength {
  private mean: number | undefined;

  /** Any answer has ended. */
  get isKnown(): boolean {
    return this.mean !== undefined;
  }

  record(tokens: number): void {
    this.mean = this.mean === undefined ? tokens : this.mean + NEWEST * (tokens - this.mean);
  }

  /** Tokens that an answer is likely to have still; without experience, without limit. */
  remaining(generated: number): number {
    if (this.mean === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(this.mean - generated, this.mean * LEAST_SHARE);
  }
}
