// Decides when a dead engine is restarted: at once after its first death and whenever it has worked since the last one,
// else after growing delays.

import type { Timers } from "../../domain/clock.ts";

const FIRST_BACKOFF_MS = 1000;
const LONGEST_BACKOFF_MS = 60_000;
/** Milliseconds after which a ready process counts as healthy: its death starts a new series. */
const HEALTHY_MS = 60_000;

export class RestartPolicy {
  private failures = 0;
  private hasFailed = false;
  private hasWorked = false;
  /** When the process became ready; undefined while it is not. */
  private readyAt: number | undefined;
  private due = 0;
  private stopTimer: (() => void) | undefined;

  constructor(private readonly clock: Timers) {}

  /** Returns the milliseconds until the scheduled restart. */
  get remainingMs(): number {
    return Math.max(0, this.due - this.clock.now());
  }

  /** Called when the process has loaded its model. */
  ready(): void {
    this.readyAt = this.clock.now();
  }

  /**
   * Called when the process has finished a job: it is then restarted at once when it dies, so that a request that kills
   * it does not stop the others for longer than a load takes.
   */
  worked(): void {
    this.hasWorked = true;
  }

  /** Schedules a restart and returns its delay in milliseconds: 0, then 1 s doubling to 60 s. */
  schedule(restart: () => void): number {
    const now = this.clock.now();
    const wasHealthy = this.hasWorked || (this.readyAt !== undefined && now - this.readyAt > HEALTHY_MS);
    this.failures = wasHealthy || !this.hasFailed ? 0 : this.failures + 1;
    this.hasFailed = true;
    this.hasWorked = false;
    this.readyAt = undefined;
    const delay = this.failures === 0 ? 0 : Math.min(FIRST_BACKOFF_MS * 2 ** (this.failures - 1), LONGEST_BACKOFF_MS);
    this.due = now + delay;
    this.stopTimer = this.clock.after(delay, restart);
    return delay;
  }

  cancel(): void {
    this.stopTimer?.();
  }
}
