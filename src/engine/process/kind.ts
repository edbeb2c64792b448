// What a kind of engine provides: the part in its own process. `child.ts` runs it, `supervisor.ts` looks after it.

import type { CancelCause } from "../../domain/cancel.ts";
import type { FromEngine, JobKey } from "./protocol.ts";

/** Options of every engine about the machine that it computes on. */
export interface ComputeOptions {
  /** Directory with the native libraries. */
  readonly libraries: string;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
}

/** A loaded model at work. Jobs queue here, under the policy that suits the kind. */
interface EngineLoop<Job> {
  /** `contents`: the binary contents that were sent with the job. */
  submit(key: JobKey, job: Job, contents: readonly Uint8Array[]): void;
  /**
   * Stops the work of a job. Its last event or a refusal must be sent unless the cause is `client`, and, where the
   * supervisor has `abortGraceMs`, always once its computation has begun: else the process is replaced. Unknown keys are
   * ignored.
   */
  cancel(key: JobKey, cause: CancelCause): void;
  /** Pauses a job while `held` is true. Unknown keys are ignored. */
  hold?(key: JobKey, held: boolean): void;
  /** Computes for as long as the process lives. Throws when it cannot continue: the process then ends. */
  run(): Promise<never>;
  /** Work to finish before the process ends in order. */
  end?(): Promise<void>;
}

export interface EngineKind<Options, Ready, Job, Event, Report = never> {
  /**
   * Loads the model and sends `progress` and `log` meanwhile. `ready`: what loading found out about the model. An
   * error's message is written for the operator.
   */
  load(
    options: Options,
    send: (message: FromEngine<Ready, Event, Report>) => void,
  ): Promise<{ readonly ready: Ready; readonly loop: EngineLoop<Job> }>;
}
