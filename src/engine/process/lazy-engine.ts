// Base of the engines that are loaded on first use, in a process of their own, or in several if the work occupies a whole
// process.

import type { ModelStatus, ProcessStatus } from "../../domain/process-status.ts";
import type { Metric } from "../../telemetry/exposition.ts";
import type { Started } from "./jobs.ts";
import { processMetrics, statusOfAll, type ObservedEngine } from "./status.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { Supervisor } from "./supervisor.ts";

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
  /** Processes that may work in parallel, each of which starts when those before it are busy; default 1. */
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
  /** What loading reported; kept across restarts. */
  protected loaded: Ready | undefined;
  private readonly supervisors: readonly Supervisor<Options, Ready, Job, Event>[];

  constructor(
    readonly kind: string,
    protected readonly options: LazyEngineOptions<Options, Model>,
  ) {
    const { engine, model, processes = 1, ...rest } = options;
    this.model = model.id;
    const first: SupervisorOptions<Options, Ready, Event, never> = {
      ...rest,
      kind,
      model: model.id,
      load: () => engine,
      start: "lazy",
      onReady: (ready) => (this.loaded = ready),
    };
    // Only the first process claims memory, and jobs are refused when it gets none. A refusal for another process would
    // fail jobs that the first could do.
    const others = { ...first, needBytes: 0 };
    this.supervisors = Array.from({ length: processes }, (_, at) => new Supervisor(at === 0 ? first : others));
  }

  status(): ModelStatus {
    const { id: modelId, created } = this.options.model;
    return { ...statusOfAll(this.supervisors), modelId, created };
  }

  metrics(): Metric[] {
    return processMetrics(this.status());
  }

  /** Runs a job as a supervisor does, in the process with the least work. */
  protected runJob(job: Job, signal: AbortSignal): AsyncGenerator<Event | Started, void, void> {
    const [chosen] = this.supervisors
      .map((supervisor) => ({ supervisor, status: supervisor.status() }))
      .toSorted((a, b) => Number(isOut(a.status)) - Number(isOut(b.status)) || work(a.status) - work(b.status));
    if (!chosen) throw new Error("an engine without processes");
    return chosen.supervisor.run(job, signal);
  }

  /** Keeps every process from being idle until the returned function is called. */
  protected keep(): () => void {
    const releases = this.supervisors.map((one) => one.keep());
    return () => releases.forEach((release) => release());
  }

  /** Unloads the processes that are idle; resolves with whether none is left. */
  async unloadIdle(): Promise<boolean> {
    const unloaded = await Promise.all(this.supervisors.map((one) => one.unloadIdle()));
    return unloaded.every((isUnloaded) => isUnloaded);
  }

  /** Ends each process once it has no jobs: the model is not offered any more. */
  retire(): void {
    for (const one of this.supervisors) one.retire();
  }

  /** Ends all processes; resolves when they are gone. */
  async stop(): Promise<void> {
    await Promise.all(this.supervisors.map((one) => one.stop()));
  }
}

const isOut = ({ state }: ProcessStatus) => state === "stalled" || state === "failed";
const work = ({ running, waiting }: ProcessStatus) => running + waiting;
