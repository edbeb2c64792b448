// Computes a rate over the last seconds.

import type { Clock } from "../domain/clock.ts";

const SLOT_MS = 1000;

/** Counts by second, so that memory and time do not grow with the number of calls. */
export class RollingRate {
  /** A ring buffer: the second that each slot stands for, and the amount in that second. */
  private readonly seconds: number[];
  private readonly amounts: number[];
  private readonly startedAt: number;

  /** The rate is over the last `slots` seconds. */
  constructor(
    private readonly clock: Clock,
    private readonly slots: number,
  ) {
    this.seconds = Array.from({ length: slots }, () => Number.NEGATIVE_INFINITY);
    this.amounts = Array.from({ length: slots }, () => 0);
    this.startedAt = clock.now();
  }

  add(amount: number): void {
    const second = this.second();
    const slot = second % this.slots;
    if (this.seconds[slot] !== second) this.amounts[slot] = 0;
    this.seconds[slot] = second;
    this.amounts[slot] = (this.amounts[slot] ?? 0) + amount;
  }

  /** Returns the amount per second; of the current second, only the elapsed part counts. */
  perSecond(): number {
    const now = this.second();
    const oldest = now - this.slots + 1;
    const sum = this.amounts.reduce(
      (total, amount, slot) => ((this.seconds[slot] ?? 0) >= oldest ? total + amount : total),
      0,
    );
    const elapsed = (this.clock.now() - this.startedAt) / SLOT_MS - Math.max(0, oldest);
    return sum / Math.max(elapsed, 1);
  }

  private second(): number {
    return Math.floor((this.clock.now() - this.startedAt) / SLOT_MS);
  }
}
