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

  /**
   * Takes `places` places for a client, or throws what `check` throws. `assured` skips the check, for a request admitted
   * with others.
   */
  enter(places: number, metrics: RefusalCounter, client = "", assured = false): void {
    if (!assured) this.check(places, metrics, client);
    this.count(client, places);
  }

  /**
   * Throws SvcError `server_busy`, counted and with the seconds after which a place is likely free, when fewer than
   * `places` are free, or the client already has its share of those that others want too. A request for more answers than
   * there are places is admitted when no other is in flight.
   */
  check(places: number, metrics: RefusalCounter, client = ""): void {
    const isFull = this.isFull(places);
    if (!isFull && !this.hasShare(places, client)) return;
    metrics.rejected("queue_full");
    const seconds = this.retryAfterSeconds();
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
   * Returns the seconds until a request ends and frees its place: the engine's estimate, else the mean duration divided
   * by `parallel`.
   */
  retryAfterSeconds(): number {
    return retryAfterSeconds(this.expectedMs() ?? this.meanMs / this.parallel);
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
    if (held === undefined || this.inFlight + places - this.parallel <= this.maxQueue / 2) return false;
    this.forget();
    const clients = new Set([...this.held.keys(), ...this.refused.keys()]).size;
    return held >= Math.ceil(this.most / clients);
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
