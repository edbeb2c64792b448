// One request at one replica: its outcome counts for the replica's health and statistics.

import type { Logger } from "../telemetry/log.ts";
import type { Replica } from "./replica.ts";
import type { Routing, TokenCounts } from "./replica-stats.ts";
import { correlationOf } from "./request-headers.ts";
import { failureFrom, KeyRefusal, type UpstreamFailure } from "./upstream-failure.ts";

export class Attempt {
  readonly beganAt: number;
  private readonly triesBreaker: boolean;
  private wasHeard = false;
  /** When the first output for the client arrived, in monotonic milliseconds. */
  firstTokenAt: number | undefined;
  /** The answer, once it has begun. */
  answer: { readonly awaitedSince: number | undefined } | undefined;

  /** Counts as in flight until `end`. `now` returns monotonic milliseconds. */
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

  /** Monotonic milliseconds when the wait for the replica began; undefined while the last piece is processed. */
  get awaitedSince(): number | undefined {
    return this.answer ? this.answer.awaitedSince : this.beganAt;
  }

  /** Records that a part of the answer arrived. */
  heard(): void {
    if (this.wasHeard) return;
    this.wasHeard = true;
    this.replica.breaker.answered();
  }

  /** Records that output for the client arrived. */
  firstToken(): void {
    if (this.firstTokenAt !== undefined) return;
    this.firstTokenAt = this.now();
    this.replica.stats.firstTokenCame(this.firstTokenAt - this.beganAt);
  }

  /** Records that the answer is complete, so the replica is healthy. */
  finished(tokens: TokenCounts): void {
    this.replica.succeeded();
    this.replica.stats.finished(tokens);
  }

  /**
   * Counts the failure, logs it and converts it for clients. An unclear failure does not count against the replica's
   * health here, because its cause is not known yet. `id`: the request's id.
   */
  failed(error: unknown, log: Logger, id: string | undefined): UpstreamFailure {
    const failure = failureFrom(error);
    const { sick } = failure;
    const { code, message } = failure.error;
    if (failure instanceof KeyRefusal) this.replica.refused(failure);
    if (sick !== "unclear") this.replica.failed({ sick, error: failure.error });
    this.replica.stats.failed(code);
    // A failure that a retry remedies is not reported elsewhere.
    log.verbose("upstream attempt failed", {
      id: id && correlationOf(id),
      replica: this.replica.url,
      code,
      why: message,
      ms: Math.round(this.now() - this.beganAt),
    });
    return failure.at(this.replica.url);
  }

  end(): void {
    if (!this.replica.running.delete(this)) return;
    if (this.triesBreaker) this.replica.breaker.abandoned();
  }
}
