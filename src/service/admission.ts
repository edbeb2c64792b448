// Limits the requests in flight, shares their places among clients and estimates when refused ones may retry.

import type { Clock } from "../domain/clock.ts";
import { retryAfterSeconds, SvcError } from "../domain/errors.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";

/** Weight of the newest request in the moving average of durations. */
const NEWEST = 0.2;
const FIRST_ESTIMATE_MS = 2000;
/** Milliseconds, after it may retry, for which a client that found no place counts among those that want one. */
const REMEMBERED_MS = 60_000;
/** Most such clients. */
const MOST_REMEMBERED = 1000;

/** Up to when a request is admitted: while its client has less than its share, while there is room, or whatever there is. */
type Entitlement = "by-share" | "while-free" | "always";

type RefusalCounter = Pick<RequestMetrics, "rejected">;

export class Admission {
  private inFlight = 0;
  private meanMs = FIRST_ESTIMATE_MS;
  /** Places by client. */
  private readonly held = new Map<string, number>();
  /** Until when a client that was refused without having a place counts, the latest refusal last. */
  private readonly refused = new Map<string, number>();

  /** `parallel` requests run concurrently and `maxQueue` more may wait. */
  constructor(
    private readonly parallel: number,
    private readonly maxQueue: number,
    /** Returns the milliseconds until the engine expects a running request to end; undefined when unknown. */
    private readonly expectedMs: () => number | undefined,
    private readonly clock: Pick<Clock, "now">,
  ) {}

  /** Takes `places` places for a client, or throws what `check` throws. A part of an admitted request needs no share. */
  enter(places: number, metrics: RefusalCounter, client = "", entitlement: Entitlement = "by-share"): void {
    if (entitlement !== "always") this.check(places, metrics, client, entitlement === "while-free");
    this.count(client, places);
  }

  /**
   * Throws SvcError `server_busy`, counted and with the seconds after which a place is likely free, when fewer than
   * `places` are free, or the client already has its share of those that others want too, unless it is `entitled` to more.
   * A request for more answers than there are places is admitted when no other is in flight.
   */
  check(places: number, metrics: RefusalCounter, client = "", entitled = false): void {
    const isFull = this.isFull(places);
    const hasShare = !entitled && this.hasShare(places, client);
    if (!isFull && !hasShare) return;
    metrics.rejected("queue_full");
    const seconds = this.retryAfterSeconds(hasShare ? this.endsUntilShare(places, client) : 1);
    if (!this.held.has(client)) this.remember(client, seconds);
    const message = isFull
      ? `The server is at capacity: ${this.parallel} running and ${this.maxQueue} waiting requests.`
      : `The queue is more than half full, and this client has its share of it: ${this.held.get(client)} of ${this.most} running and waiting requests.`;
    throw new SvcError("server_busy", message, { retryAfterSeconds: seconds });
  }

  /** Returns whether `check` would admit `places` more. */
  hasCapacity(places: number, client = ""): boolean {
    return !this.isFull(places) && !this.hasShare(places, client);
  }

  /** Frees the places of a client's request that took `ms` milliseconds. */
  leave(ms: number, places = 1, client = ""): void {
    this.count(client, -places);
    this.meanMs += NEWEST * (ms - this.meanMs);
  }

  /**
   * Returns the seconds until `ends` requests have ended and freed their places: the engine's estimate for the first,
   * and for others, or without an estimate, the mean duration divided by `parallel`.
   */
  retryAfterSeconds(ends = 1): number {
    const each = this.meanMs / this.parallel;
    return retryAfterSeconds((this.expectedMs() ?? each) + (ends - 1) * each);
  }

  private get most(): number {
    return this.parallel + this.maxQueue;
  }

  private isFull(places: number): boolean {
    return this.inFlight > 0 && this.inFlight + places > this.most;
  }

  /** Returns whether the queue would be more than half full, and the client has as much of all places as each other. */
  private hasShare(places: number, client: string): boolean {
    const held = this.held.get(client);
    if (held === undefined || this.beyondHalf(places) <= 0) return false;
    this.forget();
    return held >= this.share;
  }

  private get share(): number {
    return Math.ceil(this.most / new Set([...this.held.keys(), ...this.refused.keys()]).size);
  }

  /** Returns by how many requests the queue would be more than half full with `places` more. */
  private beyondHalf(places: number): number {
    return Math.ceil(this.inFlight + places - this.parallel - this.maxQueue / 2);
  }

  /** Returns how many requests end before a client that has its share gets places: its own end in turns with others. */
  private endsUntilShare(places: number, client: string): number {
    const own = (this.held.get(client) ?? 0) - this.share + 1;
    return Math.min(own * this.held.size, this.beyondHalf(places));
  }

  private count(client: string, places: number): void {
    this.inFlight += places;
    const held = (this.held.get(client) ?? 0) + places;
    if (held > 0) this.held.set(client, held);
    else this.held.delete(client);
  }

  /** While one client repeats each request that ends, only this keeps places for another that comes back later. */
  private remember(client: string, seconds: number): void {
    this.refused.delete(client);
    this.refused.set(client, this.clock.now() + 1000 * seconds + REMEMBERED_MS);
    this.forget();
  }

  private forget(): void {
    const now = this.clock.now();
    for (const [client, until] of this.refused) {
      if (until <= now || this.refused.size > MOST_REMEMBERED) this.refused.delete(client);
    }
  }
}
