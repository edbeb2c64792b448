// Which replicas a request is sent to, one after another, as long as asking again is safe and may help.

import { SvcError, type ErrorCode } from "../domain/errors.ts";
import { pause } from "../domain/pause.ts";
import type { Attempt } from "./attempt.ts";
import type { Replica } from "./replica.ts";
import type { Choice, Upstream } from "./upstream.ts";
import { modelGone, UpstreamFailure } from "./upstream-failure.ts";

/** Rounds through all replicas, and the longest pause between two. */
const ROUNDS = 3;
const LONGEST_PAUSE_MS = 2000;
/** Replicas that may break under a request until it is sent to no other: it may be what breaks them. */
const MOST_BROKEN = 3;

/** Of several failures the first of these is told: what waiting helps, then what another request helps. */
const REPORTED_FIRST: readonly ErrorCode[] = [
  "server_busy",
  "upstream_unavailable",
  "context_length_exceeded",
  "upstream_error",
];

/** What a request is to its replicas. */
interface Routed {
  /** Their name for its model. */
  readonly model: string;
  /** Requests with the same key go to the same replica while it has room. */
  readonly key: number;
  /** Why a replica cannot take the request; undefined: it can. */
  readonly refusalOf?: (replica: Replica) => SvcError | undefined;
}

export class Attempts {
  /** Replicas that are not asked in this round any more. */
  private readonly tried = new Set<Replica>();
  /** What went wrong with each, the last time. */
  private readonly failures = new Map<Replica, UpstreamFailure>();
  /** Those that failed as if they were ill, or the request were: the answer of another shows which. */
  private readonly unclear = new Map<Replica, SvcError>();
  /** One of them was lost with the request, whatever became of it later. */
  private sent = false;
  /** Attempts that failed so far. */
  failedCount = 0;
  private broken = 0;

  constructor(
    private readonly upstream: Upstream,
    private readonly routed: Routed,
  ) {
    // Replicas of other kinds may take what one cannot.
    for (const replica of upstream.having(routed.model)) {
      const refusal = routed.refusalOf?.(replica);
      if (refusal) this.leaveOut(replica, new UpstreamFailure(refusal, "elsewhere", false));
    }
  }

  /** One of them answered. */
  succeeded(): void {
    for (const [replica, error] of this.unclear) replica.failed({ sick: true, error });
    this.unclear.clear();
  }

  /** What went wrong with a replica. Throws it when asking again is of no use. */
  failed(replica: Replica, error: unknown): void {
    if (!(error instanceof UpstreamFailure)) throw error;
    this.failedCount++;
    if (error.retry === "never") throw error.error;
    this.sent ||= error.error.details.sent === true;
    if (error.sick === "unclear") this.suspect(replica, error.error);
    if (error.sick === "unclear" || error.error.details.sent) this.broken++;
    for (const one of [...this.alike(replica, error), replica]) this.leaveOut(one, this.asReported(one, error));
  }

  /**
   * The next replica to ask, with pauses between rounds, until no more should be: then it throws the failure that says
   * most. Each has the request in its count from when it is chosen, so that others chosen at the same time see it, until
   * the attempt's end, which is the caller's. Throws SvcError, and the signal's reason.
   */
  async *each(signal: AbortSignal): AsyncGenerator<Attempt, void, void> {
    for (let round = 1; ; round++) {
      let attempt: Attempt | undefined;
      while (this.broken < MOST_BROKEN && (attempt = this.next())) yield attempt;
      const again = [...this.failures].filter(([, failure]) => mayPass(failure));
      if (round === ROUNDS || again.length === 0 || this.broken >= MOST_BROKEN) throw this.gaveUp();
      const roundMs = this.upstream.firstPauseMs * 2 ** round;
      await pause(Math.max(roundMs, ...again.map(([, failure]) => busyMs(failure))), signal);
      for (const [one] of again) this.tried.delete(one);
    }
  }

  /** Sends the request to a replica that has not been tried; its end is the caller's. */
  next(): Attempt | undefined {
    const choice: Choice | undefined = this.upstream.choose(this.routed.model, this.routed.key, this.tried);
    if (!choice) return undefined;
    this.tried.add(choice.replica);
    return choice.replica.begin({ isOwn: choice.isOwn, isRetry: this.failedCount > 0 });
  }

  /** Where no other could show which of the two is ill, it is the server. */
  private suspect(replica: Replica, error: SvcError): void {
    if (this.upstream.having(this.routed.model).length > 1) this.unclear.set(replica, error);
    else replica.failed({ sick: true, error });
  }

  /** Replicas that would say the same. */
  private alike(replica: Replica, { retry, error }: UpstreamFailure): readonly Replica[] {
    if (error.code === "context_length_exceeded") return this.upstream.noLonger(this.routed.model, replica);
    return retry === "other kind" ? this.upstream.replicas.filter(({ kind }) => kind === replica.kind) : [];
  }

  private asReported(replica: Replica, failure: UpstreamFailure): UpstreamFailure {
    const isGone = failure.error.code === "model_not_found" && replica.model(this.routed.model) !== undefined;
    return isGone ? modelGone() : failure;
  }

  private leaveOut(replica: Replica, failure: UpstreamFailure): void {
    this.tried.add(replica);
    this.failures.set(replica, failure);
  }

  private gaveUp(): SvcError {
    for (const [replica, error] of this.unclear) replica.failedAsOthersDid(this.routed.key, error);
    return this.reported();
  }

  private reported(): SvcError {
    const { model } = this.routed;
    const errors = [...this.failures.values()].map(({ error }) => error);
    // Those that were left alone may do better once they are back.
    if (this.upstream.having(model).some((one) => !one.isDraining && !this.failures.has(one))) {
      errors.push(this.upstream.unavailable(model));
    }
    const rank = ({ code }: SvcError) => REPORTED_FIRST.indexOf(code) >>> 0;
    const waitOf = ({ details }: SvcError) => details.retryAfterSeconds ?? 0;
    const [first = this.upstream.unavailable(model)] = errors.toSorted(
      (a, b) => rank(a) - rank(b) || waitOf(a) - waitOf(b),
    );
    return this.sent ? new SvcError(first.code, first.message, { ...first.details, sent: true }) : first;
  }
}

const busyMs = ({ error: { code, details } }: UpstreamFailure): number =>
  code === "server_busy" ? (details.retryAfterSeconds ?? 0) * 1000 : 0;

/** Asking the same replica again may help, soon enough. */
const mayPass = (failure: UpstreamFailure): boolean => failure.retry === "later" && busyMs(failure) <= LONGEST_PAUSE_MS;
