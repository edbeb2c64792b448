// The only way into an engine, for every kind of job: admission, cancelling by id, time limits, metrics and draining.

import type { CancelCause } from "../domain/cancel.ts";
import type { Timers } from "../domain/clock.ts";
import { shuttingDown, SvcError, type ErrorCode } from "../domain/errors.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import type { ServedBy } from "../domain/upstream.ts";
import type { FinishReason, Usage } from "../domain/usage.ts";
import type { Progress } from "../domain/request-record.ts";
import type { Metrics, MetricSubject, RequestMetrics } from "../telemetry/metrics.ts";
import { Admission } from "./admission.ts";
import { CancelRegistry } from "./cancel-registry.ts";
import { RequestRun } from "./request-run.ts";
import type { Backend } from "./model-router.ts";
import { RequestHistory } from "./request-history.ts";

export interface RequestDeps {
  readonly metrics: Pick<Metrics, "of">;
  readonly clock: Timers;
  /** Requests that may wait beyond those that a backend computes concurrently. */
  readonly maxQueue: number;
  /** Milliseconds that an accepted request may wait for its first computation; 0: no limit. */
  readonly queueTimeoutMs: number;
  /** The metrics subject for backends that name none. */
  readonly subject: MetricSubject;
}

/**
 * What admission needs to know about a backend. `placeFreeMs`: milliseconds until its engine has a free place, if known.
 */
export type Admitting = Pick<
  Backend<object & { readonly placeFreeMs?: () => number | undefined }>,
  "model" | "engine" | "parallel" | "subject" | "unlistedAt"
>;

export interface RequestSpec extends RequestOrigin {
  readonly backend: Admitting;
  /** Number of jobs in the engine; default 1. */
  readonly places?: number;
  /**
   * true: the request was admitted with others (`checkCapacity`) and is not refused now; the caller must keep such
   * requests few. It also runs while the server drains.
   */
  readonly assured?: boolean | undefined;
  /**
   * Ends a job early, by its key, with the answer so far, and returns false when that job is complete; absent: partial
   * answers are of no use.
   */
  readonly cancel?: (key: string, cause: CancelCause) => boolean;
}

/** The course of a request, for the log and for cancelling it. Filled in while the request runs. */
export interface RequestReport {
  /** The model that computes the request, as answers name it; of an unlisted one, the upstream. */
  model?: string;
  /**
   * Ends this request, and no other of its correlation id; returns false when it is complete. Absent once it can no
   * longer be cancelled.
   */
  cancel?: () => boolean;
  /** How far the work is; absent: unknown. */
  progress?: Progress;
  reason?: FinishReason;
  usage?: Usage;
  error?: ErrorCode;
  /** Milliseconds from admission to the first text. */
  firstTextMs?: number;
  /** Set when a model on another server answers, or fails. */
  servedBy?: ServedBy;
}

/** An event that is never sent to clients. */
interface Internal {
  readonly type: "started";
}

/** The work of a request. */
interface Work<Event> {
  /** Hands the request to the engine. */
  readonly begin: (live: RequestRun) => Promise<AsyncIterable<Event>>;
  /**
   * Called with each event except `started`; returns false to withhold the event. Sets the report's reason at the last
   * event.
   */
  readonly observe: (event: Event, live: RequestRun) => void | false;
}

export class RequestService {
  /** Number of jobs that are admitted and have not ended. */
  activeCount = 0;
  readonly history: RequestHistory;
  private readonly admissions = new WeakMap<object, Admission>();
  private readonly registry = new CancelRegistry();
  private readonly idle = new Set<() => void>();
  private draining = false;
  private over = false;

  constructor(private readonly deps: RequestDeps) {
    this.history = new RequestHistory(deps.clock);
  }

  /** Number of entries in the cancel registry; zero when nothing runs. */
  get registeredCount(): number {
    return this.registry.size;
  }

  /**
   * Runs a request and emits the events of `work` except `started`. Throws SvcError (`server_busy`, `shutting_down`,
   * `deadline_exceeded` and what the work throws), or the signal's reason after an abort. A consumer that stops early
   * must `return()` the iterator.
   */
  async *run<Event extends { readonly type: string }>(
    spec: RequestSpec,
    signal: AbortSignal,
    report: RequestReport,
    { begin, observe }: Work<Event>,
  ): AsyncGenerator<Exclude<Event, Internal>, void, void> {
    const { backend, places = 1, background } = spec;
    const { kind, model: subject } = backend.subject ?? this.deps.subject;
    // Clients may have invented the name of an unlisted model.
    const model = (report.model = backend.unlistedAt ? subject : backend.model);
    const metrics = this.metricsOf(backend);
    const admission = this.admit(spec, metrics);
    const { registry, history } = this;
    const context = { ...this.deps, kind, model, registry, history, metrics, admission };
    const live = new RequestRun(spec, signal, report, context);
    try {
      live.signal.throwIfAborted();
      for await (const event of await begin(live)) {
        live.saw(event);
        if (event.type === "started" || observe(event, live) === false) continue;
        yield event as Exclude<Event, Internal>;
      }
      if (report.reason) return;
      signal.throwIfAborted();
      throw new SvcError("internal_error", "The engine stopped without a finish.");
    } catch (error) {
      live.failed(error);
      throw error;
    } finally {
      const ms = live.ended();
      if (!background) admission.leave(ms, places, spec.holder);
      this.leave(places);
    }
  }

  /**
   * Runs a request that ends with a result event. `usageOf` returns the usage from the last result, and undefined while
   * further results follow. Throws as `run` does.
   */
  compute<Event extends { readonly type: string }>(
    spec: RequestSpec,
    signal: AbortSignal,
    report: RequestReport,
    begin: (signal: AbortSignal) => AsyncIterable<Event>,
    usageOf: (event: ResultOf<Event>) => Usage | undefined,
  ): AsyncGenerator<Exclude<Event, Internal>, void, void> {
    const observe = (event: Event) => {
      const usage = isResult(event) ? usageOf(event) : undefined;
      if (usage) Object.assign(report, { reason: "stop", usage } satisfies RequestReport);
    };
    return this.run(spec, signal, report, { begin: async (live) => begin(live.signal), observe });
  }

  /**
   * Ends the newest live request of this correlation id, of the client `owner` if given; returns false when there is
   * none, or when its generation is complete although its client has not read all of it.
   */
  cancel(id: string, owner?: string): boolean {
    let entry;
    while ((entry = this.registry.takeNewest(id, owner))) if (entry.stop("id")) return true;
    return false;
  }

  /**
   * Registers something that lives beside requests, such as the connection that makes them: `stop` ends it by its id,
   * or with the server, and returns false when there was nothing left to end. Returns a function to call when it has
   * ended. Throws SvcError `shutting_down`.
   */
  attach(origin: RequestOrigin, stop: (cause: CancelCause) => boolean): () => void {
    if (this.draining) throw shuttingDown();
    const registration = this.registry.add(origin, (_key, cause) => stop(cause));
    return () => this.registry.remove(registration);
  }

  /** Refuses new requests from now on, except parts of running ones; resolves when the last one has ended. */
  drain(): Promise<void> {
    this.draining = true;
    if (this.activeCount === 0) return Promise.resolve();
    return new Promise((resolve) => this.idle.add(resolve));
  }

  /** Ends every live request, and refuses parts of them from now on. */
  cancelAll(): void {
    this.over = true;
    for (const entry of this.registry.takeAll()) entry.stop("shutdown");
  }

  /** Throws the error with which a client's request that any of these backends may answer would be refused now. */
  checkCapacity(backends: readonly Admitting[], { holder }: Pick<RequestOrigin, "holder">): void {
    if (this.draining) throw shuttingDown();
    const [first] = backends;
    if (!first || backends.some((backend) => this.admissionOf(backend).hasCapacity(1, holder))) return;
    this.admissionOf(first).check(1, this.metricsOf(first), holder);
  }

  private admit(spec: RequestSpec, metrics: RequestMetrics): Admission {
    const { places = 1, background, assured, partOf } = spec;
    if (this.over || (this.draining && !partOf && !assured)) throw shuttingDown();
    const admission = this.admissionOf(spec.backend);
    const entitlement = assured ? "always" : partOf === "placed" ? "while-free" : "by-share";
    if (!background) admission.enter(places, metrics, spec.holder, entitlement);
    this.activeCount += places;
    return admission;
  }

  private metricsOf({ subject = this.deps.subject }: Admitting): RequestMetrics {
    return this.deps.metrics.of(subject);
  }

  private admissionOf({ engine, parallel, unlistedAt = engine }: Admitting): Admission {
    const known = this.admissions.get(unlistedAt);
    if (known) return known;
    const admission = new Admission(parallel, this.deps.maxQueue, () => engine.placeFreeMs?.(), this.deps.clock);
    this.admissions.set(unlistedAt, admission);
    return admission;
  }

  private leave(places: number): void {
    this.activeCount -= places;
    if (this.activeCount > 0) return;
    for (const resolve of this.idle) resolve();
    this.idle.clear();
  }
}

type ResultOf<Event> = Extract<Event, { readonly type: "result" }>;
const isResult = <Event extends { readonly type: string }>(event: Event): event is ResultOf<Event> =>
  event.type === "result";
