// The engine's observers: profiles, the trace and the step counts. The engine reports the same events to all of them.

import type { ChunkResult } from "../../../../ffi/llama/api.ts";
import type { StepKind } from "../../../domain/steps.ts";
import type { KvCache } from "../../../scheduler/kv/kv-cache.ts";
import type { MediaStep, StepPlan } from "../../../scheduler/plan.ts";
import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { DraftJob } from "../../../scheduler/speculation/drafts.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { StepFinish } from "../protocol.ts";
import type { ReadyPrompt } from "./intake.ts";

/** The scheduler as observers see it. Its levels are computed when they are read. */
export interface SchedulerLevels extends Pick<Scheduler, "runningCount" | "waitingCount" | "speculated"> {
  readonly kv: Pick<KvCache, "runningCells">;
}

/** The scheduler at the time of an admission. */
export type AdmissionLevels = Pick<Scheduler, "runningCount" | "waitingCount" | "progress">;

/** A decode call and its result; times are in milliseconds of the engine's clock. */
export interface Decoded {
  /** What was computed: rows of text (for a slice, the rows of its whole chunk), or a piece of a medium. */
  readonly step: StepPlan | MediaStep;
  readonly result: ChunkResult;
  /** Decode steps made in the call, without those that must be repeated. */
  readonly made: number;
  readonly before: number;
  readonly after: number;
}

export interface EngineObserver {
  accepted?(prompt: ReadyPrompt, now: number): void;
  /** The first computation of these requests begins. */
  started?(keys: readonly JobKey[], now: number, levels: AdmissionLevels): void;
  /** The request is preempted: others get its cells, and it waits again. */
  preempted?(key: JobKey, now: number): void;
  /** A call has ended. The scheduler has not processed its results yet. */
  decoded(decoded: Decoded, levels: SchedulerLevels): void;
  /** The draft model has completed these jobs. */
  drafted?(jobs: readonly DraftJob[], before: number, after: number): void;
  /** Called at the end of every accepted request, also a cancelled one. Returns the finish with what was observed. */
  finished(finish: StepFinish, now: number, levels: SchedulerLevels): StepFinish;
}

export function kindOf(step: Decoded["step"]): StepKind {
  if (!("rows" in step)) return "media";
  if (step.prefillRows === 0) return "decode";
  return step.decodeRows === 0 ? "prefill" : "mixed";
}
