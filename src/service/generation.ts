// The one way into the engine for everything that generates: admission, cancelling by id, metrics, draining.

import { defaultAdapters } from "../domain/adapters.ts";
import type { Clock } from "../domain/clock.ts";
import { SvcError, type ErrorCode } from "../domain/errors.ts";
import type { FinishEvent, GenerateEvent, GenerateRequest } from "../domain/generate.ts";
import { noUsage, usageOf, type FinishReason, type Usage } from "../domain/usage.ts";
import type { EnginePort } from "../engine/text/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { MediaLimits } from "../media/limits.ts";
import { Admission, counted } from "./admission.ts";
import { CancelRegistry } from "./cancel-registry.ts";
import { generateAll, splitChoices } from "./choices.ts";
import type { Backend, ModelRouter } from "./model-router.ts";
import { neverBegun } from "./never-begun.ts";
import { withMedia } from "./request-media.ts";
import { TimeLimits } from "./time-limits.ts";

export interface GenerationDeps {
  readonly router: ModelRouter;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly mediaLimits: MediaLimits;
  /** Generations of a backend that may wait beyond those that run. */
  readonly maxQueue: number;
  /** Milliseconds that an accepted one may wait for its first computation; 0: no limit. */
  readonly queueTimeoutMs: number;
}

/** How a generation goes, for the log and for who wants to end it. Filled in while it runs. */
export interface GenerationReport {
  /** Ends this generation, and no other of the same correlation id, with reason `cancelled`. Absent when it is over. */
  cancel?: () => void;
  reason?: FinishReason;
  usage?: Usage;
  error?: ErrorCode;
  /** Milliseconds from admission to the first text. */
  firstTextMs?: number;
}

export interface GenerationOptions {
  /** It was let in with others (`checkRoom`) and is not turned away now; whoever asks keeps such requests few. */
  readonly assured?: true;
}

export class GenerationService {
  /** Each engine has places of its own. */
  private readonly admissions = new WeakMap<EnginePort, Admission>();
  private active = 0;
  private readonly registry = new CancelRegistry();
  private readonly idle = new Set<() => void>();
  private draining = false;

  constructor(private readonly deps: GenerationDeps) {}

  /** Generations admitted and not ended. */
  get activeCount(): number {
    return this.active;
  }

  /** Entries in the cancel registry; zero when nothing runs. */
  get registeredCount(): number {
    return this.registry.size;
  }

  /**
   * Runs one generation, of one request or of several that belong together: `accepted` first, `finish` last. Throws SvcError
   * (`server_busy`, `shutting_down` and what the engine throws), or the signal's reason after an abort. At its deadline a
   * generation ends with reason `length`, or throws `deadline_exceeded` while nothing of the answer is there. A consumer that
   * stops early must `return()` the iterator.
   */
  async *generate(
    asked: GenerateRequest | readonly [GenerateRequest, ...GenerateRequest[]],
    signal: AbortSignal,
    report: GenerationReport = {},
    options: GenerationOptions = {},
  ): AsyncGenerator<GenerateEvent, void, void> {
    const requests: readonly [GenerateRequest, ...GenerateRequest[]] = "id" in asked ? [asked] : asked;
    const [{ id, deadline, model, background, adapters: chosen, choices: made }] = requests;
    const answers = requests.reduce((sum: number, { choices }) => sum + choices, 0);
    const { router, metrics, clock } = this.deps;
    const backend = router.route(model);
    const admission = this.admit(backend, answers, { ...options, ...(background && { background }) });
    const admittedAt = clock.now();
    const entry = this.registry.add(id, (key) => backend.engine.cancel(key), answers);
    report.cancel = () => {
      this.registry.remove(entry);
      entry.stop();
    };
    const limits = new TimeLimits(signal, {
      queueTimeoutMs: background ? 0 : this.deps.queueTimeoutMs,
      ...(deadline !== undefined && { leftMs: deadline - clock.wall() }),
      retryAfterSeconds: () => admission.retryAfterSeconds(),
      cut: entry.stop,
    });
    const finishes: FinishEvent[] = [];
    let lastTextAt: number | undefined;
    let promptTokens = 0;
    metrics.generationStarted();
    const { adapters: offered } = backend.engine.status();
    const adapters = chosen ?? defaultAdapters(offered);
    for (const adapter of adapters) metrics.adapterChosen(offered[adapter.id]?.name ?? "");
    try {
      let unfinished = answers;
      limits.signal.throwIfAborted();
      const untilStopped = AbortSignal.any([limits.signal, entry.stopped]);
      const loaded = await this.loaded(backend, requests, untilStopped).catch((error: unknown) => {
        if (limits.signal.aborted || !entry.stopped.aborted) throw error;
      });
      const adapted = loaded?.map((request) => ({ ...request, adapters }));
      // Stopped while the engine did not know it.
      const events =
        !adapted || entry.stopped.aborted
          ? neverBegun(answers)
          : generateAll(backend.engine, splitChoices(adapted, entry.keys), limits.signal);
      for await (const told of events) {
        if (told.type === "started") {
          limits.started();
          continue;
        }
        const event = limits.isCut && told.type === "finish" ? cutShort(told) : told;
        if (event.type === "accepted") {
          limits.accepted();
          promptTokens = event.promptTokens;
        } else if (event.type === "finish") {
          if (--unfinished === 0) {
            this.registry.remove(entry);
            delete report.cancel;
          }
          report.reason = event.reason;
          finishes[event.choice ?? 0] = event;
          report.usage = usageOf(finishes, made);
        } else {
          limits.answered();
          const now = clock.now();
          if (lastTextAt === undefined) metrics.firstToken((report.firstTextMs = now - admittedAt));
          else metrics.interToken(now - lastTextAt);
          lastTextAt = now;
        }
        yield event;
      }
      if (report.reason) return;
      signal.throwIfAborted();
      throw new SvcError("internal_error", "The engine stopped without a finish.");
    } catch (error) {
      if (signal.aborted) report.reason = "cancelled";
      else report.error = error instanceof SvcError ? error.code : "internal_error";
      if (error instanceof SvcError && error.details.busy) metrics.rejected(error.details.busy);
      throw error;
    } finally {
      limits.clear();
      this.registry.remove(entry);
      delete report.cancel;
      const ms = clock.now() - admittedAt;
      if (report.error) metrics.generationFailed(report.error, ms);
      else metrics.generationFinished(report.reason ?? "cancelled", report.usage ?? noUsage(promptTokens), ms);
      if (background) admission.leaveBackground(answers);
      else admission.leave(ms, answers);
      this.leave(answers);
    }
  }

  private async loaded(
    { engine, takesMediaSources }: Backend,
    requests: readonly GenerateRequest[],
    signal: AbortSignal,
  ): Promise<readonly GenerateRequest[]> {
    if (takesMediaSources) return requests;
    const { model } = engine.status();
    return Promise.all(requests.map((request) => withMedia(request, model, this.deps.mediaLimits, signal)));
  }

  /**
   * Tokens of a request's prompt, what its images and sound come to included. It takes no place in the queue, and no prompt
   * is too long; else it throws what `generate` would about the prompt, and `tokenize_unsupported`.
   */
  async countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number> {
    const backend = this.deps.router.route(request.model);
    const [loaded = request] = await this.loaded(backend, [request], signal);
    return backend.engine.countTokens(loaded, signal);
  }

  /** Ends the newest live generation of this correlation id with reason `cancelled`; false when there is none. */
  cancel(id: string): boolean {
    const entry = this.registry.takeNewest(id);
    entry?.stop();
    return entry !== undefined;
  }

  /** Refuses new generations from now on; resolves when the last one has ended. */
  drain(): Promise<void> {
    this.draining = true;
    if (this.activeCount === 0) return Promise.resolve();
    return new Promise((resolve) => this.idle.add(resolve));
  }

  /** Ends every live generation with reason `cancelled`. */
  cancelAll(): void {
    for (const entry of this.registry.takeAll()) entry.stop();
  }

  /** Throws what a request for this model would be turned away with at this moment. */
  checkRoom(model?: string): void {
    if (this.draining) throw shuttingDown();
    const admission = this.admissionOf(this.deps.router.route(model));
    counted(this.deps.metrics, () => admission.check());
  }

  private admit(
    backend: Backend,
    places: number,
    { assured, background }: GenerationOptions & { readonly background?: true },
  ): Admission {
    if (this.draining) throw shuttingDown();
    const admission = this.admissionOf(backend);
    if (background) admission.enterBackground(places);
    else if (assured) admission.enterAssured(places);
    else counted(this.deps.metrics, () => admission.enter(places));
    this.active += places;
    return admission;
  }

  private admissionOf(backend: Backend): Admission {
    const { engine, parallel } = backend;
    const known = this.admissions.get(engine);
    if (known) return known;
    const admission = new Admission(parallel, this.deps.maxQueue, () => engine.status().stats.placeFreeMs);
    this.admissions.set(engine, admission);
    return admission;
  }

  private leave(places: number): void {
    this.active -= places;
    if (this.active > 0) return;
    for (const resolve of this.idle) resolve();
    this.idle.clear();
  }
}

const shuttingDown = () => new SvcError("shutting_down", "The server is shutting down.");

/** A time limit ended the answer, not whoever asked for it. */
const cutShort = (event: FinishEvent): FinishEvent =>
  event.reason === "cancelled" ? { ...event, reason: "length" } : event;
