// How many requests may be in flight, and when a client that is refused should come back.

import { retryAfterSeconds, SvcError } from "../domain/errors.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";

/** Weight of the newest request in the moving mean of durations. */
const NEWEST = 0.2;
const FIRST_ESTIMATE_MS = 2000;

type RefusalCounter = Pick<RequestMetrics, "rejected">;

export class Admission {
  private inFlight = 0;
  private meanMs = FIRST_ESTIMATE_MS;

  /** `parallel` requests run at once and `maxQueue` more may wait. */
  constructor(
    private readonly parallel: number,
    private readonly maxQueue: number,
    /** Milliseconds until the engine expects a running request to end, where it knows. */
    private readonly expectedMs: () => number | undefined,
  ) {}

  /** Takes so many places, or throws what `check` throws; `assured`: for what was admitted with others, be they free or not. */
  enter(places: number, metrics: RefusalCounter, assured = false): void {
    if (!assured) this.check(places, metrics);
    this.inFlight += places;
  }

  /**
   * Throws SvcError `server_busy`, counted, with the seconds after which one is likely free, when there are not so many places. A
   * request for more answers than there are places is let in when it is alone.
   */
  check(places: number, metrics: RefusalCounter): void {
    if (this.hasCapacity(places)) return;
    metrics.rejected("queue_full");
    const message = `The server is at capacity: ${this.parallel} requests run and ${this.maxQueue} wait.`;
    throw new SvcError("server_busy", message, { retryAfterSeconds: this.retryAfterSeconds(), busy: "queue_full" });
  }

  /** Whether `check` would let in as many. */
  hasCapacity(places: number): boolean {
    return this.inFlight === 0 || this.inFlight + places <= this.parallel + this.maxQueue;
  }

  /** Gives the places back after `ms`. */
  leave(ms: number, places = 1): void {
    this.inFlight -= places;
    this.meanMs += NEWEST * (ms - this.meanMs);
  }

  /** A place is free when any request ends: as the engine expects, else at `parallel` per mean duration. */
  retryAfterSeconds(): number {
    return retryAfterSeconds(this.expectedMs() ?? this.meanMs / this.parallel);
  }
}
