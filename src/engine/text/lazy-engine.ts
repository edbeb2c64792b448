// An engine that is there while it is used: started by the first request, stopped some time after the last.

import { SvcError } from "../../domain/errors.ts";
import type { EngineEvent, GenerateRequest } from "../../domain/generate.ts";
import { noSteps } from "../../domain/steps.ts";
import { noStats, type EnginePort, type EngineStatus } from "./port.ts";

export interface LazyEngineOptions {
  readonly model: { readonly id: string; readonly created: number };
  /** Makes an engine and starts it. */
  readonly start: () => EnginePort;
  /** Milliseconds without a request after which it is stopped. */
  readonly idleMs: number;
  /** Told when it cannot be started. */
  readonly onFailure: (error: unknown) => void;
}

export class LazyEngine implements EnginePort {
  private engine: EnginePort | undefined;
  private users = 0;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private isOver = false;

  constructor(private readonly options: LazyEngineOptions) {}

  status(): EngineStatus {
    const { id: modelId, created: modelCreated } = this.options.model;
    if (this.engine) return { ...this.engine.status(), modelId, modelCreated };
    return { state: "stopped", adapters: [], modelId, modelCreated, restarts: 0, stats: noStats, steps: noSteps() };
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<EngineEvent, void, void> {
    const engine = this.take();
    try {
      yield* engine.generate(request, signal);
    } finally {
      this.leave();
    }
  }

  cancel(id: string): void {
    this.engine?.cancel(id);
  }

  tokenize(text: string, signal: AbortSignal): Promise<Int32Array> {
    return this.use((engine) => engine.tokenize(text, signal));
  }

  countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number> {
    return this.use((engine) => engine.countTokens(request, signal));
  }

  detokenize(tokens: readonly number[], signal: AbortSignal): Promise<string> {
    return this.use((engine) => engine.detokenize(tokens, signal));
  }

  render(request: GenerateRequest, signal: AbortSignal): Promise<string> {
    return this.use((engine) => engine.render(request, signal));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.release();
  }

  private async use<T>(work: (engine: EnginePort) => Promise<T>): Promise<T> {
    const engine = this.take();
    try {
      return await work(engine);
    } finally {
      this.leave();
    }
  }

  private take(): EnginePort {
    if (this.isOver) throw new SvcError("shutting_down", "The server is shutting down.");
    clearTimeout(this.idle);
    this.engine ??= this.started();
    this.users++;
    return this.engine;
  }

  private started(): EnginePort {
    try {
      return this.options.start();
    } catch (error) {
      this.options.onFailure(error);
      throw new SvcError("engine_unavailable", "The model cannot be started; the server's log says why.");
    }
  }

  private leave(): void {
    if (--this.users > 0 || this.isOver) return;
    this.idle = setTimeout(() => void this.release(), this.options.idleMs);
    // Nobody waits for it.
    this.idle.unref();
  }

  private async release(): Promise<void> {
    clearTimeout(this.idle);
    const { engine } = this;
    this.engine = undefined;
    await engine?.stop();
  }
}
