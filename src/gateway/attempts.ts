// Sends a request to replicas, one after another, as long as a retry is safe and may help.

import { SvcError, type ErrorCode } from "../domain/errors.ts";
import { pause } from "../domain/pause.ts";
import type { Attempt } from "./attempt.ts";
import type { Replica } from "./replica.ts";
import type { Choice, Upstream } from "./upstream.ts";
import { modelGone, UpstreamFailure } from "./upstream-failure.ts";

/** Rounds through all replicas, and the longest pause between two rounds. */
const ROUNDS = 3;
const LONGEST_PAUSE_MS = 2000;
/** Number of replicas that may break during a request before it is sent to no other: the request may be the cause. */
const MOST_BROKEN = 3;

/**
 * Of several failures, the first of these is reported: those that waiting remedies, then those that a changed request
 * remedies.
 */
const REPORTED_FIRST: readonly ErrorCode[] = [
  "server_busy",
  "upstream_unavailable",
  "context_length_exceeded",
  "upstream_error",
];

/** How a request is routed to replicas. */
interface Routed {
  /** The replicas' name for the model. */
  readonly model: string;
  /** Requests with the same key go to the same replica while it has capacity. */
  readonly key: number;
  /** Throws SvcError about what a replica cannot take. */
  readonly check: (replica: Replica) => void;
}

export class Attempts {
  /** Replicas not to be tried in this round any more. */
  private readonly tried = new Set<Replica>();
  /** The last failure of each replica. */
  private readonly failures = new Map<Replica, UpstreamFailure>();
  /** Replicas whose failure may be their own or the request's fault; the answer of another replica decides. */
  private readonly unclear = new Map<Replica, SvcError>();
  /** Whether a replica was lost while it had the request, whatever happened later. */
  private sent = false;
  /** Attempts that failed so far. */
  failedCount = 0;
  private broken = 0;

  constructor(
    private readonly upstream: Upstream,
    private readonly routed: Routed,
  ) {
    for (const replica of upstream.having(routed.model)) {
      try {
        routed.check(replica);
      } catch (refusal) {
        if (!(refusal instanceof SvcError)) throw refusal;
        // What a server takes is unknown before it has listed its models; replicas of other kinds may take more.
        this.leaveOut(replica, new UpstreamFailure(replica.unlisted ?? refusal, "elsewhere", false));
      }
    }
  }

  /** Records that a replica answered. */
  succeeded(): void {
    for (const [replica, error] of this.unclear) replica.failed({ sick: true, error });
    this.unclear.clear();
  }

  /** Records that the attempt at a replica was ended because another was first: should that one fail, it may be tried. */
  released(replica: Replica): void {
    this.tried.delete(replica);
  }

  /** Records the failure of a replica. Throws its error when a retry is of no use. */
  failed(replica: Replica, error: unknown): void {
    if (!(error instanceof UpstreamFailure)) throw error;
    this.failedCount++;
    if (error.retry === "never") throw error.error;
    this.sent ||= error.error.details.sent === true;
    if (error.sick === "unclear") this.unclear.set(replica, error.error);
    if (error.sick === "unclear" || error.error.details.sent) this.broken++;
    for (const one of [...this.alike(replica, error), replica]) this.leaveOut(one, this.asReported(one, error));
  }

  /**
   * Emits attempts at the next replicas, with pauses between rounds; when no more should be tried, throws the most
   * actionable error. An attempt counts for its replica from when the replica is chosen, so that concurrent choices see
   * it; the caller must end it. Throws SvcError, and the signal's reason.
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

  /** Begins an attempt at an untried replica, which the caller must end; undefined when there is none. */
  next(): Attempt | undefined {
    const choice: Choice | undefined = this.upstream.choose(this.routed.model, this.routed.key, this.tried);
    if (!choice) return undefined;
    this.tried.add(choice.replica);
    return choice.replica.begin({ isOwn: choice.isOwn, isRetry: this.failedCount > 0 });
  }

  /** Returns replicas that would fail in the same way. */
  private alike(replica: Replica, { retry, error }: UpstreamFailure): readonly Replica[] {
    if (error.code === "context_length_exceeded") return this.upstream.withContextUpTo(this.routed.model, replica);
    return retry === "other kind" ? this.upstream.replicas.filter(({ kind }) => kind === replica.kind) : [];
  }

  private asReported(replica: Replica, failure: UpstreamFailure): UpstreamFailure {
    const isGone = failure.error.code === "model_not_found" && replica.model(this.routed.model) !== undefined;
    return isGone ? modelGone().at(replica.url) : failure;
  }

  private leaveOut(replica: Replica, failure: UpstreamFailure): void {
    this.tried.add(replica);
    this.failures.set(replica, failure);
  }

  private gaveUp(): SvcError {
    for (const [replica, error] of this.unclear) replica.failedAsOthersDid(this.routed, error);
    return this.reported();
  }

  private reported(): SvcError {
    const { model } = this.routed;
    const errors = [...this.failures.values()].map(({ error }) => error);
    // Replicas that are paused after failures may do better once they are back.
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

/** Returns whether a retry at the same replica may help soon enough. */
const mayPass = (failure: UpstreamFailure): boolean => failure.retry === "later" && busyMs(failure) <= LONGEST_PAUSE_MS;
