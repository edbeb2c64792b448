// Limits how long a request may wait and run. Before the answer begins, running out of time is an error; after that,
// the partial answer counts.

import type { Timers } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";

interface TimeLimitOptions {
  readonly clock: Timers;
  /** Milliseconds from acceptance to the first computation; 0: no limit. */
  readonly queueTimeoutMs: number;
  /** Milliseconds until the deadline; absent: none. */
  readonly leftMs?: number;
  /** Returns the whole seconds after which a retry may succeed. */
  readonly retryAfterSeconds: () => number;
  /** Ends the request with the answer so far. */
  readonly cut: () => void;
}

export class TimeLimits {
  private answering = false;
  private readonly controller = new AbortController();
  private readonly leave: () => void;
  private clearDeadline: (() => void) | undefined;
  private clearQueueTimeout: (() => void) | undefined;

  /** `client`: aborted when the client disconnects. */
  constructor(
    private readonly client: AbortSignal,
    private readonly options: TimeLimitOptions,
  ) {
    const { clock, leftMs } = options;
    this.leave = () => this.controller.abort(client.reason);
    client.addEventListener("abort", this.leave, { once: true });
    if (client.aborted) this.leave();
    if (leftMs === undefined) return;
    if (leftMs <= 0) this.expire();
    else this.clearDeadline = clock.after(leftMs, () => this.expire());
  }

  /** Aborted with the client's reason, or with an SvcError when the time runs out before the answer begins. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Starts the queue timeout. */
  accepted(): void {
    const { clock, queueTimeoutMs, retryAfterSeconds } = this.options;
    if (queueTimeoutMs === 0) return;
    this.clearQueueTimeout = clock.after(queueTimeoutMs, () => {
      const message = `The request waited in the queue for ${queueTimeoutMs / 1000} s, the limit of this server (--queue-timeout).`;
      const details = { retryAfterSeconds: retryAfterSeconds(), busy: "queue_timeout" } as const;
      this.controller.abort(new SvcError("server_busy", message, details));
    });
  }

  /** Stops the queue timeout. */
  started(): void {
    this.clearQueueTimeout?.();
  }

  /** Records that the answer has begun. */
  answered(): void {
    this.answering = true;
  }

  /** Ends the request with this failure. */
  fail(error: SvcError): void {
    this.controller.abort(error);
  }

  /** Stops the deadline: the answer is whole or cut off already. */
  settled(): void {
    this.clearDeadline?.();
  }

  /** Releases timers and listeners when the request is over. */
  clear(): void {
    this.settled();
    this.clearQueueTimeout?.();
    this.client.removeEventListener("abort", this.leave);
  }

  private expire(): void {
    if (!this.answering) return this.controller.abort(tooLate());
    this.options.cut();
  }
}

const tooLate = () =>
  new SvcError("deadline_exceeded", "The deadline of X-Svc-Deadline-Ms passed before an answer began.");
