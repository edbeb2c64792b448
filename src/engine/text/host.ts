// Supervises the engine process and answers the engine port over IPC. An engine's death is a normal event: requests it
// was computing fail with a typed error, requests it had not begun are handed to its successor.

import type { Clock } from "../../domain/clock.ts";
import type { OfferedAdapter } from "../../domain/adapters.ts";
import { retryAfterSeconds, SvcError } from "../../domain/errors.ts";
import type { EngineEvent, GenerateRequest } from "../../domain/generate.ts";
import type { ModelInfo } from "../../domain/model.ts";
import { noUsage } from "../../domain/usage.ts";
import type { Logger } from "../../telemetry/log.ts";
import { EngineProcess, type EngineExit } from "../process/process.ts";
import { LifetimeStats } from "./lifetime-stats.ts";
import { culprit, PendingRequest } from "./pending-request.ts";
import type { EnginePort, EngineState, EngineStatus } from "./port.ts";
import { PROTOCOL_VERSION, type RequestKey } from "../process/protocol.ts";
import type { EngineOptions, FromEngine, ToEngine } from "./protocol.ts";
import { RestartPolicy } from "../process/restart.ts";

export interface EngineHostOptions {
  readonly engine: EngineOptions;
  /** What the host knows about the model before it is loaded. */
  readonly model: Pick<ModelInfo, "id" | "path" | "created">;
  /** In the order of the engine's paths. */
  readonly adapters: readonly OfferedAdapter[];
  /** Program and arguments of the engine process. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How long a request waits for an engine that is loading or restarting. */
  readonly loadTimeoutMs: number;
  readonly log: Logger;
  readonly clock: Clock;
}

const STOP_GRACE_MS = 2000;
/** The same where conversations go to disk first. */
const STORE_GRACE_MS = 30_000;

export class EngineHost implements EnginePort {
  private state: EngineState = "starting";
  private process: EngineProcess<ToEngine, FromEngine> | undefined;
  private model: ModelInfo | undefined;
  private progress = 0;
  private lastError: string | undefined;
  private loadFailure: string | undefined;
  private restarts = 0;
  private readonly restart: RestartPolicy;
  private readonly pending = new Map<RequestKey, PendingRequest>();
  private nextKey = 1;
  private readonly stats: LifetimeStats;
  private readonly loaded = Promise.withResolvers<ModelInfo>();

  constructor(private readonly options: EngineHostOptions) {
    this.restart = new RestartPolicy(options.clock);
    this.stats = new LifetimeStats(options.clock);
    this.loaded.promise.catch(() => {});
  }

  /** Starts the first engine process. */
  start(): void {
    this.spawn();
  }

  /** Resolves when the model is loaded for the first time; rejects when that failed (no retry follows then). */
  ready(): Promise<ModelInfo> {
    return this.loaded.promise;
  }

  status(): EngineStatus {
    return {
      state: this.state,
      modelId: this.options.model.id,
      modelCreated: this.options.model.created,
      adapters: this.options.adapters,
      ...(this.model && { model: this.model }),
      ...(this.state === "loading" && { progress: this.progress }),
      ...(this.lastError && { lastError: this.lastError }),
      restarts: this.restarts,
      stats: { ...this.stats.current(), kvTotal: this.model?.context ?? this.options.engine.context },
      steps: this.stats.steps,
    };
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    const pending = this.enqueue(request.id, generation(request));
    const { events } = pending;
    const abandon = () => this.drop(pending);
    signal.addEventListener("abort", abandon);
    try {
      signal.throwIfAborted();
      while (await events.more()) {
        for (let event = events.take(); event !== undefined; event = events.take()) yield event as EngineEvent;
      }
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", abandon);
      this.drop(pending);
    }
  }

  tokenize(text: string, signal: AbortSignal): Promise<Int32Array> {
    return this.ask<Int32Array>((key) => ({ type: "tokenize", key, text }), signal);
  }

  async countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number> {
    return (await this.ask<Int32Array>((key) => ({ type: "count", key, request }), signal)).length;
  }

  detokenize(tokens: readonly number[], signal: AbortSignal): Promise<string> {
    return this.ask<string>((key) => ({ type: "detokenize", key, tokens }), signal);
  }

  render(request: GenerateRequest, signal: AbortSignal): Promise<string> {
    return this.ask<string>((key) => ({ type: "render", key, request }), signal);
  }

  /** A question with one answer. */
  private async ask<Answer>(message: (key: RequestKey) => ToEngine, signal: AbortSignal): Promise<Answer> {
    const pending = this.enqueue("", message);
    const abandon = () => this.drop(pending);
    signal.addEventListener("abort", abandon);
    try {
      signal.throwIfAborted();
      if (await pending.events.more()) return pending.events.take() as Answer;
      throw new SvcError("internal_error", "The engine gave no answer.");
    } finally {
      signal.removeEventListener("abort", abandon);
      this.drop(pending);
    }
  }

  cancel(id: string): void {
    const pending = [...this.pending.values()].findLast((candidate) => candidate.id === id);
    if (!pending) return;
    if (pending.accepted && pending.progress !== "unsent") {
      // The engine knows what was computed: it sends the finish.
      this.stopWork(pending, false);
      return;
    }
    if (!pending.accepted) pending.events.push({ type: "accepted", promptTokens: 0, downgraded: false });
    pending.events.push({ type: "finish", reason: "cancelled", usage: noUsage() });
    this.drop(pending);
  }

  async stop(): Promise<void> {
    this.state = "draining";
    this.restart.cancel();
    this.failAll(new SvcError("shutting_down", "The server is shutting down."));
    await this.process?.stop(this.options.engine.kvDir ? STORE_GRACE_MS : STOP_GRACE_MS);
    this.state = "stopped";
  }

  private enqueue(id: string, message: (key: RequestKey) => ToEngine): PendingRequest {
    if (this.state === "draining" || this.state === "stopped") {
      throw new SvcError("shutting_down", "The server is shutting down.");
    }
    if (this.state === "failed") {
      const retryAfterSeconds = Math.max(1, Math.ceil(this.restart.remainingMs / 1000));
      throw new SvcError("engine_unavailable", "The model engine is down and will be restarted.", {
        retryAfterSeconds,
      });
    }
    const key = this.nextKey++;
    const pending = new PendingRequest(key, id, message(key));
    this.pending.set(key, pending);
    if (this.state === "ready") this.submit(pending);
    else this.await(pending);
    return pending;
  }

  private await(pending: PendingRequest): void {
    const { loadTimeoutMs } = this.options;
    pending.waitForEngine(loadTimeoutMs, () => {
      const message = `The model is still loading after ${Math.round(loadTimeoutMs / 1000)} s of waiting.`;
      this.settle(pending, new SvcError("engine_unavailable", message, { retryAfterSeconds: 5 }));
    });
  }

  private submit(pending: PendingRequest): void {
    pending.sent();
    if (pending.message) this.process?.send(pending.message);
  }

  /** The consumer is gone or done: whatever the engine still does for it is wasted. */
  private drop(pending: PendingRequest): void {
    if (!this.pending.has(pending.key)) return;
    if (pending.progress !== "unsent") this.stopWork(pending, true);
    this.settle(pending);
  }

  private stopWork({ key, progress }: PendingRequest, quiet: boolean): void {
    this.process?.send({ type: "cancel", key, quiet });
    if (progress === "started") this.process?.abort(key);
  }

  private settle(pending: PendingRequest, error?: SvcError): void {
    this.pending.delete(pending.key);
    pending.settle(error);
  }

  private failAll(error: SvcError): void {
    for (const pending of this.pending.values()) this.settle(pending, error);
  }

  private spawn(): void {
    this.state = "loading";
    this.progress = 0;
    const { command, env, engine } = this.options;
    const process: EngineProcess<ToEngine, FromEngine> = new EngineProcess({
      command,
      env,
      cwd: engine.libraries,
      onMessage: (message) => this.process === process && this.receive(message),
      onExit: (exit) => this.process === process && this.exited(exit),
    });
    this.process = process;
    process.send({ type: "load", version: PROTOCOL_VERSION, options: engine });
    this.options.log.debug("engine process started", { pid: process.pid });
  }

  private receive(message: FromEngine): void {
    switch (message.type) {
      case "progress":
        this.progress = message.value;
        return;
      case "ready":
        return this.becomeReady(message);
      case "load-failed":
        this.loadFailure = message.message;
        return void this.process?.stop(STOP_GRACE_MS);
      case "log":
        return this.options.log[message.level === "info" ? "debug" : message.level](`engine: ${message.text}`);
      case "started":
        this.stats.update(message.stats);
        for (const key of message.keys) {
          const pending = this.pending.get(key);
          if (!pending) continue;
          pending.started();
          pending.events.push({ type: "started" });
        }
        return;
      case "accepted":
        this.stats.update(message.stats);
        return this.accepted(message);
      case "rejected":
        return this.rejected(message);
      case "tokens":
        return this.answered(message.key, message.tokens);
      case "text":
        return this.answered(message.key, message.text);
      case "step":
        return this.stepped(message);
      case "steps":
        return this.stats.addSteps(message.tally);
    }
  }

  private becomeReady({ model, onDisk }: Extract<FromEngine, { type: "ready" }>): void {
    const { engine, model: known } = this.options;
    this.model = { ...known, ...model, maxModelLen: engine.maxModelLen, parallel: engine.parallel };
    this.state = "ready";
    if (onDisk) this.options.log.info("conversations on disk", { ...onDisk });
    this.loaded.resolve(this.model);
    for (const pending of this.pending.values()) this.submit(pending);
  }

  private accepted({ key, promptTokens, downgraded }: Extract<FromEngine, { type: "accepted" }>): void {
    const pending = this.pending.get(key);
    if (!pending || pending.accepted) return;
    pending.accepted = true;
    pending.events.push({ type: "accepted", promptTokens, downgraded });
  }

  private answered(key: RequestKey, answer: Int32Array | string): void {
    const pending = this.pending.get(key);
    if (!pending) return;
    pending.events.push(answer);
    this.settle(pending);
  }

  private rejected({ key, code, message, param, busy }: Extract<FromEngine, { type: "rejected" }>): void {
    const pending = this.pending.get(key);
    if (!pending) return;
    const retry = busy && { busy, retryAfterSeconds: retryAfterSeconds(this.stats.placeFreeMs() ?? 0) };
    this.settle(pending, new SvcError(code, message, { ...(param !== undefined && { param }), ...retry }));
  }

  private stepped({ outputs, finished, stats }: Extract<FromEngine, { type: "step" }>): void {
    this.stats.update(stats);
    for (const { key, events } of outputs) {
      const pending = this.pending.get(key);
      for (const event of events) pending?.events.push(event);
    }
    for (const { key, event } of finished) {
      const pending = this.pending.get(key);
      if (!pending) continue;
      pending.events.push(event);
      this.settle(pending);
    }
  }

  private exited(exit: EngineExit): void {
    this.process = undefined;
    if (this.state === "draining" || this.state === "stopped") return;
    for (const line of exit.stderr) this.options.log.error(`engine: ${line}`);
    const how = exit.signal ? `by signal ${exit.signal}` : `with code ${exit.code}`;
    const reason =
      this.loadFailure ?? `The engine process ended ${how}${this.state === "ready" ? "" : " while loading"}.`;
    this.loadFailure = undefined;
    this.lastError = reason;
    if (!this.model) return this.firstLoadFailed(reason);

    this.stats.processEnded();
    const crashed = new SvcError("engine_crashed", `The model engine stopped ${how} while computing this request.`);
    const cause = culprit(exit.code, this.pending.values());
    for (const pending of this.pending.values()) {
      if (pending.progress === "unsent") continue;
      if (pending.progress === "started" || pending === cause || !pending.survives()) this.settle(pending, crashed);
      else this.await(pending);
    }
    const delay = this.restart.schedule(() => {
      this.restarts++;
      this.spawn();
    });
    this.state = delay > 0 ? "failed" : "starting";
    this.options.log.error("engine process ended", { how, restart_in_ms: delay });
  }

  /** A model that cannot be loaded at all is the operator's to fix: no retry. */
  private firstLoadFailed(reason: string): void {
    this.state = "failed";
    this.failAll(new SvcError("engine_unavailable", "The model could not be loaded."));
    this.loaded.reject(new Error(reason));
  }
}

/** Outside of the generator, which would hold on to the request, and its media, for the whole answer. */
const generation =
  (request: GenerateRequest) =>
  (key: RequestKey): ToEngine => ({ type: "generate", key, request });
