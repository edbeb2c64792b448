// A request between admission and its end: in the registry and the history, within its time limits, with its metrics.

import type { CancelCause } from "../domain/cancel.ts";
import { SvcError } from "../domain/errors.ts";
import { noUsage } from "../domain/usage.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import type { Admission } from "./admission.ts";
import type { CancelRegistry } from "./cancel-registry.ts";
import type { RequestDeps, RequestReport, RequestSpec } from "./request.ts";
import type { RequestHistory } from "./request-history.ts";
import { TimeLimits } from "./time-limits.ts";

interface LiveContext extends Pick<RequestDeps, "clock" | "queueTimeoutMs"> {
  readonly kind: string;
  readonly model: string;
  readonly registry: CancelRegistry;
  readonly history: RequestHistory;
  readonly metrics: RequestMetrics;
  readonly admission: Pick<Admission, "retryAfterSeconds">;
}

export class LiveRequest {
  readonly metrics: RequestMetrics;
  readonly admittedAt: number;
  /** As far as they are known. */
  promptTokens = 0;
  /** Of these, computed or cached so far; absent: nobody knows. */
  processedTokens?: number;
  /** Those sampled so far; of an upstream, pieces of text. */
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
    private readonly context: LiveContext,
  ) {
    const { kind, model, clock, queueTimeoutMs, registry, history, metrics, admission } = context;
    this.metrics = metrics;
    this.admittedAt = this.acceptedAt = this.seenAt = clock.now();
    const fail = (_key: string, cause: CancelCause) => this.limits.fail(failureOf(cause));
    const registration = (this.registration = registry.add(id, cancel ?? fail, places));
    report.cancel = () => {
      registry.remove(registration);
      registration.stop("id");
    };
    this.limits = new TimeLimits(client, {
      clock,
      queueTimeoutMs: background ? 0 : queueTimeoutMs,
      ...(deadline !== undefined && { leftMs: deadline - clock.wall() }),
      retryAfterSeconds: () => admission.retryAfterSeconds(),
      cut: () => registration.stop("deadline"),
    });
    this.entry = history.begin({ id, kind, model, client: owner }, this, report);
    metrics.started();
  }

  /** Aborted when nobody wants an answer any more, with the reason. */
  get signal(): AbortSignal {
    return this.limits.signal;
  }

  /** Ids of its jobs in the engine. */
  get keys(): readonly string[] {
    return this.registration.keys;
  }

  /** Aborted, with the cause, when it was cancelled: an engine that does not have it yet is not to get it. */
  get stopped(): AbortSignal {
    return this.registration.stopped;
  }

  /** It can no longer be cancelled. */
  settled(): void {
    this.context.registry.remove(this.registration);
    delete this.report.cancel;
  }

  /** An event has come from the engine. */
  saw(event: { readonly type: string; readonly isAssumed?: true }): void {
    const now = (this.seenAt = this.context.clock.now());
    if (event.type === "started") {
      this.limits.started();
      this.entry.running();
      if (!event.isAssumed) this.startedAt ??= now;
    } else if (event.type === "accepted") {
      this.limits.accepted();
      this.acceptedAt = now;
    } else if (event.type !== "progress") this.limits.answered();
  }

  /** It fails with this error, or is cancelled. */
  failed(error: unknown): void {
    const { report, client } = this;
    const known = error instanceof SvcError ? error : undefined;
    if (client.aborted || known?.code === "request_cancelled") report.reason = "cancelled";
    else report.error = known?.code ?? "internal_error";
    if (known?.details.busy) this.metrics.rejected(known.details.busy);
  }

  /** It is over. Returns the milliseconds that it took. */
  ended(): number {
    const { metrics, report, startedAt } = this;
    this.limits.clear();
    this.settled();
    this.entry.ended();
    const ms = this.context.clock.now() - this.admittedAt;
    if (report.error) metrics.failed(report.error, ms);
    else {
      const { reason = "cancelled", usage } = report;
      const times =
        usage && startedAt !== undefined
          ? { queueMs: startedAt - this.acceptedAt, computingMs: this.seenAt - startedAt }
          : undefined;
      metrics.finished(reason, usage ?? noUsage(this.promptTokens), ms, times);
    }
    return ms;
  }
}

/** How a request ends of whose answer nobody wants a half. */
function failureOf(cause: CancelCause): SvcError {
  if (cause === "shutdown") return shuttingDown();
  if (cause !== "deadline") return new SvcError("request_cancelled", "The request was cancelled by its id.");
  return new SvcError("deadline_exceeded", "The deadline of X-Svc-Deadline-Ms passed before the answer was whole.");
}

/** What a server refuses and ends requests with that goes down. */
export const shuttingDown = () => new SvcError("shutting_down", "The server is shutting down.");
