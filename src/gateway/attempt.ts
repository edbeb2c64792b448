// One request at one replica: what becomes of it counts for the replica's health and statistics.

import type { Logger } from "../telemetry/log.ts";
import type { Replica } from "./replica.ts";
import type { Routing, TokenCounts } from "./replica-stats.ts";
import { correlationOf } from "./request-headers.ts";
import { failureFrom, type UpstreamFailure } from "./upstream-failure.ts";

export class Attempt {
  readonly beganAt: number;
  private readonly triesBreaker: boolean;
  private wasHeard = false;
  /** When something came that the client gets, in monotonic milliseconds. */
  firstTokenAt: number | undefined;
  /** Its answer, once it has begun. */
  answer: { readonly awaitedSince: number | undefined } | undefined;

  /** Counts as under way until `end`. `now`: monotonic milliseconds. */
  constructor(
    readonly replica: Replica,
    routing: Routing,
    private readonly now: () => number,
  ) {
    this.beganAt = now();
    this.triesBreaker = replica.breaker.begin();
    replica.running.add(this);
    replica.stats.began(routing);
  }

  /** Since when something is awaited of the replica, in monotonic milliseconds; undefined: whoever reads is busy with the last. */
  get awaitedSince(): number | undefined {
    return this.answer ? this.answer.awaitedSince : this.beganAt;
  }

  /** Something of the answer came. */
  heard(): void {
    if (this.wasHeard) return;
    this.wasHeard = true;
    this.replica.breaker.answered();
  }

  /** Something came that the client gets. */
  firstToken(): void {
    if (this.firstTokenAt !== undefined) return;
    this.firstTokenAt = this.now();
    this.replica.stats.firstTokenCame(this.firstTokenAt - this.beganAt);
  }

  /** The answer is whole: the replica is well. */
  finished(tokens: TokenCounts): void {
    this.replica.succeeded();
    this.replica.stats.finished(tokens);
  }

  /** Counts the failure, and makes it one that clients understand. Whether an unclear one is the replica's is not known here. */
  failed(error: unknown): UpstreamFailure {
    const failure = failureFrom(error);
    const { sick } = failure;
    if (sick !== "unclear") this.replica.failed({ sick, error: failure.error });
    this.replica.stats.failed(failure.error.code);
    return failure;
  }

  /** Makes a line of the failure: of one that a retry made good, nobody else tells. `id`: the request's. */
  logFailure(log: Logger, id: string | undefined, { error: { code } }: UpstreamFailure): void {
    log.verbose("upstream attempt failed", {
      id: id && correlationOf(id),
      replica: this.replica.url,
      code,
      ms: Math.round(this.now() - this.beganAt),
    });
  }

  end(): void {
    if (!this.replica.running.delete(this)) return;
    if (this.triesBreaker) this.replica.breaker.abandoned();
  }
}
