// How many generations may be in flight, and when a rejected client should come back.

import type { Clock } from "../domain/clock.ts";
import { retryAfterSeconds, SvcError } from "../domain/errors.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** Weight of the newest generation in the moving mean of durations. */
const NEWEST = 0.2;
const FIRST_GUESS_MS = 2000;

export class Admission {
  private inFlight = 0;
  private background = 0;
  private meanMs = FIRST_GUESS_MS;

  /** `parallel` generations run at once and `maxQueue` more may wait. */
  constructor(
    private readonly parallel: number,
    private readonly maxQueue: number,
    /** Milliseconds until the engine expects a running generation to end, where it knows. */
    private readonly expectedMs: () => number | undefined,
  ) {}

  get count(): number {
    return this.inFlight + this.background;
  }

  /** Places for what yields to everybody: they take none of the others'. Whoever asks for them keeps them few. */
  enterBackground(places: number): void {
    this.background += places;
  }

  leaveBackground(places: number): void {
    this.background -= places;
  }

  /** Takes so many places, or throws what `check` throws. */
  enter(places = 1): void {
    this.check(places);
    this.inFlight += places;
  }

  /** Takes places for what has been let in with others, be they free or not. */
  enterAssured(places: number): void {
    this.inFlight += places;
  }

  /**
   * Throws SvcError `server_busy`, with the seconds after which one is likely free, when there are not so many places. A
   * request for more answers than there are places is let in when it is alone.
   */
  check(places = 1): void {
    if (this.inFlight > 0 && this.inFlight + places > this.parallel + this.maxQueue) {
      const message = `The server is at capacity: ${this.parallel} requests run and ${this.maxQueue} wait.`;
      throw new SvcError("server_busy", message, { retryAfterSeconds: this.retryAfterSeconds(), busy: "queue_full" });
    }
  }

  /** Gives the places back after `ms`. */
  leave(ms: number, places = 1): void {
    this.inFlight -= places;
    this.meanMs += NEWEST * (ms - this.meanMs);
  }

  /** A place is free when any generation ends: as the engine expects, else at `parallel` per mean duration. */
  retryAfterSeconds(): number {
    return retryAfterSeconds(this.expectedMs() ?? this.meanMs / this.parallel);
  }
}

/** Enters, or counts that somebody was turned away and throws what `check` throws. */
export function counted(metrics: Pick<Metrics, "rejected">, enter: () => void): void {
  try {
    enter();
  } catch (error) {
    metrics.rejected("queue_full");
    throw error;
  }
}

/** Does a work that takes one place for as long as it lasts. Throws what `check` throws, counted, and what the work throws. */
export async function admitted<T>(
  admission: Admission,
  { metrics, clock }: { readonly metrics: Pick<Metrics, "rejected">; readonly clock: Clock },
  work: () => Promise<T>,
): Promise<T> {
  counted(metrics, () => admission.enter());
  const started = clock.now();
  try {
    return await work();
  } finally {
    admission.leave(clock.now() - started);
  }
}
