// An engine that is loaded on first use, in a process of its own, whatever it computes.

import type { Metric } from "../../telemetry/exposition.ts";
import { processMetrics, type ObservedEngine, type ProcessStatus } from "./status.ts";
import { SupervisorPool } from "./supervisor-pool.ts";
import type { Launch, SupervisorOptions } from "./supervisor-options.ts";

/** What is known of a model before it is loaded. */
export interface KnownModel {
  readonly id: string;
  /** Last change of its file, Unix seconds. */
  readonly created: number;
}

export interface LazyEngineOptions<Options, Model> {
  readonly engine: Options;
  readonly model: Model;
  readonly launch: Launch;
  /** Milliseconds without a request after which the model is unloaded; 0: when another one needs its memory. */
  readonly idleMs: number;
  /** Bytes that the model takes at least; default 0: it is loaded whatever is free. */
  readonly needBytes?: number;
  /** Milliseconds for which a computation may keep the process from any sign of life; default 0. */
  readonly quietMs?: number;
  /** Events of a job that may wait for their reader, before the engine holds it; default: any number. */
  readonly mostUnread?: number;
  /** See SupervisorOptions. */
  readonly prepare?: (signal: AbortSignal) => Promise<void> | undefined;
  /** Processes that may work beside each other; default 1. */
  readonly processes?: number;
}

export abstract class LazyEngine<
  Options extends { readonly libraries: string },
  Model extends KnownModel,
  Ready,
  Job,
  Event extends {},
> implements ObservedEngine {
  readonly model: string;
  protected readonly supervisor: SupervisorPool<Options, Ready, Job, Event>;
  /** What loading reported; kept through a restart. */
  protected loaded: Ready | undefined;

  constructor(
    readonly kind: string,
    protected readonly options: LazyEngineOptions<Options, Model>,
    own: Pick<SupervisorOptions<Options, Ready, Event, never>, "abortGraceMs" | "longestSilenceMs"> = {},
  ) {
    const { engine, model, launch, idleMs, needBytes = 0, quietMs = 0, mostUnread = Infinity, processes = 1 } = options;
    const { prepare } = options;
    this.model = model.id;
    this.supervisor = new SupervisorPool(processes, {
      kind,
      model: model.id,
      load: () => engine,
      ...(prepare && { prepare }),
      launch,
      start: "lazy",
      idleMs,
      needBytes,
      quietMs,
      mostUnread,
      onReady: (ready) => (this.loaded = ready),
      ...own,
    });
  }

  abstract status(): ProcessStatus;

  metrics(): Metric[] {
    return processMetrics(this.supervisor.status());
  }

  /** Ends the process; resolves when it is gone. */
  stop(): Promise<void> {
    return this.supervisor.stop();
  }
}
