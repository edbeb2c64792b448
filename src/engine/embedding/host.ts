// Supervises one embedding engine: starts its process for the first request, and again for the next one after a crash.

import type { Clock } from "../../domain/clock.ts";
import type { EmbeddingKind, EmbeddingModel, EmbeddingResult, EmbeddingWork } from "../../domain/embedding.ts";
import { SvcError } from "../../domain/errors.ts";
import type { Logger } from "../../telemetry/log.ts";
import { EngineProcess, type EngineExit } from "../process/process.ts";
import { PROTOCOL_VERSION, type RequestKey } from "../process/protocol.ts";
import { RestartPolicy } from "../process/restart.ts";
import type { EmbeddingPort, EmbeddingStatus } from "./port.ts";
import type { EmbedderOptions, FromEmbedder, ToEmbedder } from "./protocol.ts";

export interface EmbeddingHostOptions {
  readonly engine: EmbedderOptions;
  /** What is known of the model before it is loaded. */
  readonly model: { readonly id: string; readonly created: number; readonly dimensions: number };
  /** Program and arguments of the engine process. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How long a request waits for a model that is loading. */
  readonly loadTimeoutMs: number;
  readonly log: Logger;
  readonly clock: Clock;
}

interface Pending {
  readonly key: RequestKey;
  readonly work: EmbeddingWork;
  readonly answer: PromiseWithResolvers<EmbeddingResult>;
  /** Lost if the engine dies. */
  started: boolean;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const STOP_GRACE_MS = 2000;

export class EmbeddingHost implements EmbeddingPort {
  private state: EmbeddingStatus["state"] = "unloaded";
  private process: EngineProcess<ToEmbedder, FromEmbedder> | undefined;
  private model: EmbeddingModel | undefined;
  private loadFailure: string | undefined;
  private lastError: string | undefined;
  private spawned = 0;
  private nextKey = 1;
  private readonly pending = new Map<RequestKey, Pending>();
  private readonly restart: RestartPolicy;

  constructor(private readonly options: EmbeddingHostOptions) {
    this.restart = new RestartPolicy(options.clock);
  }

  status(): EmbeddingStatus {
    const { model: known, engine } = this.options;
    const kind: EmbeddingKind = engine.kind;
    return {
      modelId: known.id,
      created: known.created,
      kind,
      maxTokens: engine.maxTokens,
      dimensions: this.model?.dimensions ?? known.dimensions,
      state: this.state,
      ...(this.model && { model: this.model }),
      ...(this.lastError !== undefined && { lastError: this.lastError }),
      restarts: Math.max(0, this.spawned - 1),
    };
  }

  async run(work: EmbeddingWork, signal: AbortSignal): Promise<EmbeddingResult> {
    signal.throwIfAborted();
    const pending = this.enqueue(work);
    const abandon = () => {
      this.process?.send({ type: "cancel", key: pending.key });
      if (pending.started) this.process?.abort(pending.key);
      this.settle(pending, signal.reason);
    };
    signal.addEventListener("abort", abandon);
    try {
      return await pending.answer.promise;
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  }

  async stop(): Promise<void> {
    this.state = "stopped";
    this.restart.cancel();
    this.failAll(shuttingDown());
    await this.process?.stop(STOP_GRACE_MS);
  }

  private enqueue(work: EmbeddingWork): Pending {
    if (this.state === "stopped") throw shuttingDown();
    if (this.state === "failed") throw this.unavailable();
    const key = this.nextKey++;
    const pending: Pending = { key, work, answer: Promise.withResolvers(), started: false, timer: undefined };
    this.pending.set(key, pending);
    if (this.state === "unloaded") this.spawn();
    if (this.state === "ready") this.submit(pending);
    else this.awaitModel(pending);
    return pending;
  }

  private awaitModel(pending: Pending): void {
    const { loadTimeoutMs } = this.options;
    clearTimeout(pending.timer);
    pending.timer = setTimeout(() => {
      const message = `The embedding model is still loading after ${Math.round(loadTimeoutMs / 1000)} s of waiting.`;
      this.settle(pending, new SvcError("engine_unavailable", message, { retryAfterSeconds: 5 }));
    }, loadTimeoutMs);
  }

  private submit({ key, work, timer }: Pending): void {
    clearTimeout(timer);
    this.process?.send({ type: "embed", key, work });
  }

  private spawn(): void {
    this.state = "loading";
    this.spawned++;
    const { command, env, engine, log } = this.options;
    const process: EngineProcess<ToEmbedder, FromEmbedder> = new EngineProcess({
      command,
      env,
      cwd: engine.libraries,
      onMessage: (message) => this.process === process && this.receive(message),
      onExit: (exit) => this.process === process && this.exited(exit),
    });
    this.process = process;
    process.send({ type: "load", version: PROTOCOL_VERSION, options: engine });
    log.debug("embedding engine started", { pid: process.pid, model: this.options.model.id });
  }

  private receive(message: FromEmbedder): void {
    switch (message.type) {
      case "ready":
        this.model = message.model;
        this.state = "ready";
        for (const pending of this.pending.values()) this.submit(pending);
        return;
      case "load-failed":
        this.loadFailure = message.message;
        return void this.process?.stop(STOP_GRACE_MS);
      case "started":
        for (const key of message.keys) {
          const pending = this.pending.get(key);
          if (pending) pending.started = true;
        }
        return;
      case "result": {
        const pending = this.pending.get(message.key);
        if (pending) this.settle(pending, undefined, message.result);
        return;
      }
      case "rejected": {
        const { key, code, message: text, param } = message;
        const pending = this.pending.get(key);
        if (pending) this.settle(pending, new SvcError(code, text, param === undefined ? {} : { param }));
        return;
      }
      case "log":
        return this.options.log[message.level === "info" ? "debug" : message.level](`embedding: ${message.text}`);
    }
  }

  private exited(exit: EngineExit): void {
    this.process = undefined;
    if (this.state === "stopped") return;
    const { log, model } = this.options;
    for (const line of exit.stderr) log.error(`embedding: ${line}`);
    const how = exit.signal ? `by signal ${exit.signal}` : `with code ${exit.code}`;
    const wasLoading = this.state === "loading";
    this.lastError = this.loadFailure ?? `The embedding engine ended ${how}${wasLoading ? " while loading" : ""}.`;
    this.loadFailure = undefined;
    for (const pending of this.pending.values()) {
      if (pending.started) this.settle(pending, crashed(how));
    }
    const delay = this.restart.schedule(() => {
      if (this.pending.size > 0) this.spawn();
      else this.state = "unloaded";
    });
    this.state = delay > 0 ? "failed" : "loading";
    log.error("embedding engine ended", { model: model.id, reason: this.lastError, restart_in_ms: delay });
    // What would only wait for the same failure is told at once.
    if (wasLoading || delay > 0) this.failAll(this.unavailable());
    else for (const pending of this.pending.values()) this.awaitModel(pending);
  }

  private unavailable(): SvcError {
    const retryAfterSeconds = Math.max(1, Math.ceil(this.restart.remainingMs / 1000));
    return new SvcError("engine_unavailable", "The embedding model could not be loaded.", { retryAfterSeconds });
  }

  private failAll(error: SvcError): void {
    for (const pending of this.pending.values()) this.settle(pending, error);
  }

  private settle(pending: Pending, error: unknown, result?: EmbeddingResult): void {
    if (!this.pending.delete(pending.key)) return;
    clearTimeout(pending.timer);
    if (result) pending.answer.resolve(result);
    else pending.answer.reject(error);
  }
}

const shuttingDown = () => new SvcError("shutting_down", "The server is shutting down.");
const crashed = (how: string) =>
  new SvcError("engine_crashed", `The embedding engine stopped ${how} while computing this request.`);
