// Keeps the most recent durations of something.

const KEPT = 256;

export class RecentTimes {
  private readonly times: number[] = [];
  private next = 0;

  get count(): number {
    return this.times.length;
  }

  add(ms: number): void {
    this.times[this.next] = ms;
    this.next = (this.next + 1) % KEPT;
  }

  /** Returns the time that this share (0 to 1) of the durations did not exceed; undefined when there are none. */
  quantile(share: number): number | undefined {
    const sorted = this.times.toSorted((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  }
}
