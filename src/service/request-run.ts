// Tracks a request from admission to its end: cancelling, history, time limits and metrics.

import type { CancelCause } from "../domain/cancel.ts";
import { shuttingDown, SvcError } from "../domain/errors.ts";
import { noUsage } from "../domain/usage.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import type { Admission } from "./admission.ts";
import type { CancelRegistry } from "./cancel-registry.ts";
import type { RequestDeps, RequestReport, RequestSpec } from "./request.ts";
import type { RequestHistory } from "./request-history.ts";
import { TimeLimits } from "./time-limits.ts";

interface RunContext extends Pick<RequestDeps, "clock" | "queueTimeoutMs"> {
  readonly kind: string;
  readonly model: string;
  readonly registry: CancelRegistry;
  readonly history: RequestHistory;
  readonly metrics: RequestMetrics;
  readonly admission: Pick<Admission, "retryAfterSeconds">;
}

export class RequestRun {
  /** Aborted, with the reason, when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** Ids of the request's jobs in the engine. */
  readonly keys: readonly string[];
  /** Aborted with the cause when the request is cancelled; an engine that does not have it yet must not get it. */
  readonly stopped: AbortSignal;
  readonly metrics: RequestMetrics;
  readonly admittedAt: number;
  /** Prompt tokens, as far as known. */
  promptTokens = 0;
  /** Prompt tokens computed or cached so far; undefined when unknown. */
  processedTokens?: number;
  /** Tokens sampled so far; pieces of text if the model runs on an upstream. */
  completionTokens = 0;
  private readonly registration: ReturnType<CancelRegistry["add"]>;
  private readonly limits: TimeLimits;
  private readonly entry: ReturnType<RequestHistory["begin"]>;
  private acceptedAt: number;
  private startedAt: number | undefined;
  private seenAt: number;

  /** `client`: aborted when the client disconnects. */
  constructor(
    { id, places = 1, background, deadline, client: owner, cancel }: RequestSpec,
    private readonly client: AbortSignal,
    private readonly report: RequestReport,
    private readonly context: RunContext,
  ) {
    const { kind, model, clock, queueTimeoutMs, registry, history, metrics, admission } = context;
    this.metrics = metrics;
    this.admittedAt = this.acceptedAt = this.seenAt = clock.now();
    const end = (key: string, cause: CancelCause) => {
      if (cancel) return cancel(key, cause);
      this.limits.fail(failureOf(cause));
      return true;
    };
    const registration = (this.registration = registry.add({ id, client: owner }, end, places));
    this.keys = registration.keys;
    this.stopped = registration.stopped;
    this.stopped.addEventListener("abort", () => this.settled(), { once: true });
    report.cancel = () => registration.stop("id");
    this.limits = new TimeLimits(client, {
      clock,
      queueTimeoutMs: background ? 0 : queueTimeoutMs,
      ...(deadline !== undefined && { leftMs: deadline - clock.wall() }),
      retryAfterSeconds: () => admission.retryAfterSeconds(),
      cut: () => registration.stop("deadline"),
    });
    this.signal = this.limits.signal;
    this.entry = history.begin({ id, kind, model, client: owner }, this, report);
    metrics.started();
  }

  /** Marks the request as no longer cancellable. Its keys may be another's from now on, so no deadline may use them. */
  settled(): void {
    this.limits.settled();
    this.context.registry.remove(this.registration);
    delete this.report.cancel;
  }

  /** Handles an event of the engine. */
  saw(event: { readonly type: string; readonly isAssumed?: true }): void {
    const now = (this.seenAt = this.context.clock.now());
    if (event.type === "started") {
      this.limits.started();
      this.entry.isRunning = true;
      if (!event.isAssumed) this.startedAt ??= now;
    } else if (event.type === "accepted") {
      this.limits.accepted();
      this.acceptedAt = now;
    } else if (event.type !== "progress") this.limits.answered();
  }

  /** Records that the request failed with this error or was cancelled. */
  failed(error: unknown): void {
    const { report, client } = this;
    const known = error instanceof SvcError ? error : undefined;
    if (client.aborted || known?.code === "request_cancelled") report.reason = "cancelled";
    else report.error = known?.code ?? "internal_error";
    const { replica } = known?.details ?? {};
    if (replica !== undefined) report.servedBy = { replica, retries: 0 };
    if (known?.details.busy) this.metrics.rejected(known.details.busy);
  }

  /** Records that the request is over. Returns its duration in milliseconds. */
  ended(): number {
    const { metrics, report, startedAt } = this;
    // A reader that stopped early leaves no reason.
    const { error, reason = "cancelled", usage } = report;
    if (!error) report.reason = reason;
    this.limits.clear();
    this.settled();
    this.context.history.ended(this.entry);
    const ms = this.context.clock.now() - this.admittedAt;
    if (error) metrics.failed(error, ms, this.completionTokens);
    else {
      const times =
        usage && startedAt !== undefined
          ? { queueMs: startedAt - this.acceptedAt, computingMs: this.seenAt - startedAt }
          : undefined;
      // How much of a prompt was computed is not known before the first token, nor without usage.
      const isKnown = usage && (reason !== "cancelled" || usage.completionTokens > 0);
      const counted = isKnown ? usage : { ...noUsage(), completionTokens: this.completionTokens };
      metrics.finished(reason, counted, ms, times);
    }
    return ms;
  }
}

/** Returns the error of a cancelled request whose partial answer is of no use. */
function failureOf(cause: CancelCause): SvcError {
  if (cause === "shutdown") return shuttingDown();
  if (cause !== "deadline") return new SvcError("request_cancelled", "The request was cancelled.");
  return new SvcError("deadline_exceeded", "The deadline of X-Svc-Deadline-Ms passed before the answer was complete.");
}
