// Who looks on while the engine works: profiles and the trace. The engine tells all of them the same few things.

import type { ChunkResult } from "../../../../ffi/llama/api.ts";
import type { StepKind } from "../../../domain/steps.ts";
import type { DraftJob } from "../../../scheduler/speculation/drafts.ts";
import type { MediaStep, StepPlan } from "../../../scheduler/plan.ts";
import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { RequestKey } from "../../process/protocol.ts";
import type { StepFinish } from "../protocol.ts";
import type { ReadyPrompt } from "./intake.ts";

/** Read only by those who want them: they cost a little. */
export type SchedulerLevels = Pick<Scheduler, "runningCount" | "waitingCount" | "cellsUsed" | "guesses">;

/** A decode call and how it went; times are those of the engine's clock. */
export interface Decoded {
  /** What was computed: rows of text, in one call or a slice of it, or a piece of a medium. */
  readonly step: StepPlan | MediaStep;
  readonly result: ChunkResult;
  /** Decode steps that were made in the call; none that is to be made again. */
  readonly made: number;
  readonly before: number;
  readonly after: number;
}

export interface EngineObserver {
  accepted(prompt: ReadyPrompt, now: number): void;
  /** The first computation of these requests begins. */
  started?(keys: readonly RequestKey[], now: number): void;
  /** Its results are not taken in yet. */
  decoded(decoded: Decoded, levels: SchedulerLevels): void;
  /** The draft model was asked. */
  drafted?(jobs: readonly DraftJob[], before: number, after: number): void;
  /** Every accepted request ends with this, whether anybody still wants its finish; returned with what was observed. */
  finished(finish: StepFinish, now: number, levels: SchedulerLevels): StepFinish;
}

export function kindOf(step: Decoded["step"]): StepKind {
  if (!("rows" in step)) return "media";
  if (step.prefillRows === 0) return "decode";
  return step.decodeRows === 0 ? "prefill" : "mixed";
}

export class Observers implements EngineObserver {
  constructor(private readonly all: readonly EngineObserver[]) {}

  accepted(prompt: ReadyPrompt, now: number): void {
    for (const one of this.all) one.accepted(prompt, now);
  }

  started(keys: readonly RequestKey[], now: number): void {
    for (const one of this.all) one.started?.(keys, now);
  }

  decoded(decoded: Decoded, levels: SchedulerLevels): void {
    for (const one of this.all) one.decoded(decoded, levels);
  }

  drafted(jobs: readonly DraftJob[], before: number, after: number): void {
    for (const one of this.all) one.drafted?.(jobs, before, after);
  }

  finished(finish: StepFinish, now: number, levels: SchedulerLevels): StepFinish {
    return this.all.reduce((told, one) => one.finished(told, now, levels), finish);
  }
}
