// Which replicas a request is sent to, one after another, as long as asking again is safe and may help.

import { SvcError, type ErrorCode } from "../domain/errors.ts";
import type { Attempt } from "./attempt.ts";
import { pause } from "./deadline.ts";
import type { Replica } from "./replica.ts";
import type { Choice, Upstream } from "./upstream.ts";
import { UpstreamFailure } from "./upstream-failure.ts";

/** Rounds through all replicas, and the longest pause between two. */
const ROUNDS = 3;
const LONGEST_PAUSE_MS = 2000;

/** Of several failures the first of these is told: what waiting helps, then what another request helps. */
const TOLD_FIRST: readonly ErrorCode[] = [
  "server_busy",
  "upstream_unavailable",
  "context_length_exceeded",
  "upstream_error",
];

export class Attempts {
  /** Replicas that are not asked in this round any more. */
  private readonly tried = new Set<Replica>();
  /** What went wrong with each, the last time. */
  private readonly failures = new Map<Replica, UpstreamFailure>();
  /** One of them was lost with the request, whatever became of it later. */
  private sent = false;

  constructor(
    private readonly upstream: Upstream,
    private readonly model: string,
    /** Requests with the same key go to the same replica while it has room. */
    private readonly key: string,
  ) {}

  /** What went wrong with the replica that was given last. Throws it when asking again is of no use. */
  failed(replica: Replica, error: unknown): void {
    if (!(error instanceof UpstreamFailure)) throw error;
    if (error.retry === "never") throw error.error;
    this.sent ||= error.error.details.sent === true;
    const isTooLong = error.error.code === "context_length_exceeded";
    const alike = isTooLong ? this.upstream.noLonger(this.model, replica) : [];
    for (const one of [...alike, replica]) {
      this.tried.add(one);
      this.failures.set(one, error);
    }
  }

  /**
   * The next replica to ask, with pauses between rounds, until no more should be: then it throws the failure that says
   * most. Each has the request in its count from when it is chosen, so that others chosen at the same time see it, until
   * the next one is asked for or no more are. Throws SvcError, and the signal's reason.
   */
  async *each(signal: AbortSignal): AsyncGenerator<Attempt, void, void> {
    for (let round = 1; ; round++) {
      let choice: Choice | undefined;
      while ((choice = this.upstream.choose(this.model, this.key, this.tried))) {
        const { replica, isOwn } = choice;
        this.tried.add(replica);
        const attempt = replica.begin({ isOwn, isRetry: this.failures.size > 0 });
        try {
          yield attempt;
        } finally {
          attempt.end();
        }
      }
      const again = [...this.failures].filter(([, failure]) => mayPass(failure));
      if (round === ROUNDS || again.length === 0) throw this.told();
      const roundMs = this.upstream.firstPauseMs * 2 ** round;
      await pause(Math.max(roundMs, ...again.map(([, failure]) => busyMs(failure))), signal);
      for (const [one] of again) this.tried.delete(one);
    }
  }

  private told(): SvcError {
    const errors = [...this.failures.values()].map(({ error }) => error);
    // Those that were left alone may do better once they are back.
    if (this.upstream.having(this.model).some((one) => !one.isDraining && !this.failures.has(one))) {
      errors.push(this.upstream.unavailable(this.model));
    }
    const rank = ({ code }: SvcError) => TOLD_FIRST.indexOf(code) >>> 0;
    const waitOf = ({ details }: SvcError) => details.retryAfterSeconds ?? 0;
    const [first = this.upstream.unavailable(this.model)] = errors.toSorted(
      (a, b) => rank(a) - rank(b) || waitOf(a) - waitOf(b),
    );
    return this.sent ? new SvcError(first.code, first.message, { ...first.details, sent: true }) : first;
  }
}

const busyMs = ({ error: { code, details } }: UpstreamFailure): number =>
  code === "server_busy" ? (details.retryAfterSeconds ?? 0) * 1000 : 0;

/** Asking the same replica again may help, soon enough. */
const mayPass = (failure: UpstreamFailure): boolean => failure.retry === "later" && busyMs(failure) <= LONGEST_PAUSE_MS;
