// Limits the requests in flight and estimates when refused clients may retry.

import { retryAfterSeconds, SvcError } from "../domain/errors.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";

/** Weight of the newest request in the moving average of durations. */
const NEWEST = 0.2;
const FIRST_ESTIMATE_MS = 2000;

type RefusalCounter = Pick<RequestMetrics, "rejected">;

export class Admission {
  private inFlight = 0;
  private meanMs = FIRST_ESTIMATE_MS;

  /** `parallel` requests run concurrently and `maxQueue` more may wait. */
  constructor(
    private readonly parallel: number,
    private readonly maxQueue: number,
    /** Returns the milliseconds until the engine expects a running request to end; undefined when unknown. */
    private readonly expectedMs: () => number | undefined,
  ) {}

  /**
   * Takes `places` places, or throws what `check` throws. `assured` skips the check, for a request admitted with
   * others.
   */
  enter(places: number, metrics: RefusalCounter, assured = false): void {
    if (!assured) this.check(places, metrics);
    this.inFlight += places;
  }

  /**
   * Throws SvcError `server_busy`, counted and with the seconds after which a place is likely free, when fewer than
   * `places` are free. A request for more answers than there are places is admitted when no other is in flight.
   */
  check(places: number, metrics: RefusalCounter): void {
    if (this.hasCapacity(places)) return;
    metrics.rejected("queue_full");
    const message = `The server is at capacity: ${this.parallel} running and ${this.maxQueue} waiting requests.`;
    throw new SvcError("server_busy", message, { retryAfterSeconds: this.retryAfterSeconds() });
  }

  /** Returns whether `check` would admit `places` more. */
  hasCapacity(places: number): boolean {
    return this.inFlight === 0 || this.inFlight + places <= this.parallel + this.maxQueue;
  }

  /** Frees the places of a request that took `ms` milliseconds. */
  leave(ms: number, places = 1): void {
    this.inFlight -= places;
    this.meanMs += NEWEST * (ms - this.meanMs);
  }

  /**
   * Returns the seconds until a request ends and frees its place: the engine's estimate, else the mean duration divided
   * by `parallel`.
   */
  retryAfterSeconds(): number {
    return retryAfterSeconds(this.expectedMs() ?? this.meanMs / this.parallel);
  }
}
