// Estimates the length of answers from those that ended.

/** Weight of the newest answer. */
const NEWEST = 0.2;
/** An answer that is longer than the mean is expected to go on for this share of the mean. */
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

  /** Tokens that an answer is likely to generate still; infinite before any has ended. */
  remaining(generated: number): number {
    if (this.mean === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(this.mean - generated, this.mean * LEAST_SHARE);
  }
}
