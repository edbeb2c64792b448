// What a kind of engine is: the part that runs in a process of its own. `child.ts` runs it, `supervisor.ts` looks after it.

import type { CancelCause } from "../../domain/cancel.ts";
import type { FromEngine, JobKey } from "./protocol.ts";

/** What every engine knows of the machine that it computes on. */
export interface ComputeOptions {
  /** Directory with the native libraries; also the engine's working directory. */
  readonly libraries: string;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
}

/** A loaded model at work. Jobs queue here, by whatever policy suits the kind. */
interface EngineWorker<Job> {
  /** `contents`: what the job was run with beside it. */
  submit(key: JobKey, job: Job, contents: readonly Uint8Array[]): void;
  /** Stops the work of a job. Unless the cause is `client`, its last event is sent. Unknown keys are ignored. */
  cancel(key: JobKey, cause: CancelCause): void;
  /** Leaves a job until it is held no longer. Unknown keys are ignored. */
  hold?(key: JobKey, held: boolean): void;
  /** Computes for as long as the process lives. Throws when it cannot go on: the process ends then. */
  run(): Promise<never>;
  /** What is to be done before the process ends in order. */
  end?(): Promise<void>;
}

export interface EngineKind<Options, Ready, Job, Event, Report = never> {
  /**
   * Loads the model, sending `progress` and `log` meanwhile; `ready` is what that found out about it. An error's
   * message is for the operator.
   */
  load(
    options: Options,
    send: (message: FromEngine<Ready, Event, Report>) => void,
  ): Promise<{ readonly ready: Ready; readonly worker: EngineWorker<Job> }>;
}
