// A rate over the last seconds.

import type { Clock } from "../domain/clock.ts";

export class RollingRate {
  private readonly events: { readonly at: number; readonly amount: number }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly windowMs: number,
  ) {}

  add(amount: number): void {
    this.forget();
    this.events.push({ at: this.clock.now(), amount });
  }

  /** Amount per second over the window. */
  perSecond(): number {
    this.forget();
    return (this.events.reduce((sum, { amount }) => sum + amount, 0) / this.windowMs) * 1000;
  }

  private forget(): void {
    const horizon = this.clock.now() - this.windowMs;
    while ((this.events[0]?.at ?? Number.POSITIVE_INFINITY) < horizon) this.events.shift();
  }
}
