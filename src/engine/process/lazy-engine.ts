// Base of the engines that are loaded on first use, in a process of their own.

import type { ModelStatus } from "../../domain/process-status.ts";
import type { Metric } from "../../telemetry/exposition.ts";
import { processMetrics, type ObservedEngine } from "./status.ts";
import { SupervisorPool } from "./supervisor-pool.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";

/** What is known of a model before it is loaded. */
export interface KnownModel {
  readonly id: string;
  /** Last change of its file, Unix seconds. */
  readonly created: number;
}

export interface LazyEngineOptions<Options, Model> extends Pick<
  SupervisorOptions<Options, never, never, never>,
  | "launch"
  | "idleMs"
  | "needBytes"
  | "files"
  | "quietMs"
  | "mostUnread"
  | "prepare"
  | "abortGraceMs"
  | "longestSilenceMs"
> {
  readonly engine: Options;
  readonly model: Model;
  /** Processes that may work in parallel; default 1. */
  readonly processes?: number;
}

export abstract class LazyEngine<
  Options,
  Model extends KnownModel,
  Ready,
  Job,
  Event extends {},
> implements ObservedEngine {
  readonly model: string;
  protected readonly supervisor: SupervisorPool<Options, Ready, Job, Event>;
  /** What loading reported; kept across restarts. */
  protected loaded: Ready | undefined;

  constructor(
    readonly kind: string,
    protected readonly options: LazyEngineOptions<Options, Model>,
  ) {
    const { engine, model, processes = 1, ...rest } = options;
    this.model = model.id;
    this.supervisor = new SupervisorPool(processes, {
      ...rest,
      kind,
      model: model.id,
      load: () => engine,
      start: "lazy",
      onReady: (ready) => (this.loaded = ready),
    });
  }

  status(): ModelStatus {
    const { id: modelId, created } = this.options.model;
    return { ...this.supervisor.status(), modelId, created };
  }

  metrics(): Metric[] {
    return processMetrics(this.supervisor.status());
  }

  unloadIdle(): Promise<boolean> {
    return this.supervisor.unloadIdle();
  }

  /** Ends the process once it has no jobs: its model is not offered any more. */
  retire(): void {
    this.supervisor.retire();
  }

  /** Ends the process; resolves when it is gone. */
  stop(): Promise<void> {
    return this.supervisor.stop();
  }
}
