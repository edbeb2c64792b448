// The real clock, which a test can advance.

import { systemClock, type Timers } from "../../src/domain/clock.ts";

export class TestClock implements Timers {
  private ahead = 0;
  private readonly pending = new Set<{ readonly at: number; readonly act: () => void }>();

  readonly now = () => systemClock.now() + this.ahead;
  readonly wall = () => systemClock.wall() + this.ahead;

  after(ms: number, act: () => void): () => void {
    const entry = { at: this.now() + ms, act: () => end() && act() };
    const cancel = systemClock.after(ms, entry.act);
    const end = () => {
      cancel();
      return this.pending.delete(entry);
    };
    this.pending.add(entry);
    return end;
  }

  /** Advances the clock by this much at once. */
  pass(ms: number): void {
    this.ahead += ms;
    for (const { at, act } of this.pending) if (at <= this.now()) act();
  }
}
