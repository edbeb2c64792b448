// Counts decode calls for the metrics and tells the counts about once a second, while there are any.

import { addGuesses, noGuesses } from "../../domain/guesses.ts";
import { countChunk, countPause, countStep, noSteps } from "../../domain/steps.ts";
import type { StepPlan } from "../../scheduler/plan.ts";
import type { FromEngine, StepFinish } from "../protocol.ts";
import { kindOf, type Decoded, type EngineObserver, type SchedulerLevels } from "./observer.ts";

const TELL_MS = 1000;

export class StepCounter implements EngineObserver {
  private tally = noSteps();
  /** Guesses that were told before. */
  private readonly told = noGuesses();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last step ended in which every stream that runs now had a token. */
  private textAt = 0;
  /** What was computed since, if anything. */
  private since: "prompt" | "media" | undefined;

  constructor(private readonly send: (message: FromEngine) => void) {}

  accepted(): void {}

  decoded({ step, result, made, before, after }: Decoded, levels: SchedulerLevels): void {
    // What is not done is computed again and counts then.
    if (result !== "done" && result !== "paused") return;
    const kind = kindOf(step);
    for (let count = 0; count < made; count++) countStep(this.tally, kind, (after - before) / made / 1000);
    if (!("rows" in step)) {
      this.tally.rows.media += step.count;
      this.since = "media";
    } else {
      if (result === "done") this.countRows(step, made);
      if (step.rows.some(({ sample }) => sample)) this.endPause(step, after);
      else this.since ??= "prompt";
    }
    this.timer ??= setTimeout(() => this.tell(levels), TELL_MS);
  }

  private countRows(step: StepPlan, made: number): void {
    const kind = kindOf(step);
    this.tally.rows.decode += step.decodeRows * made;
    this.tally.rows.prefill += step.prefillRows;
    if (kind === "prefill" || kind === "mixed") countChunk(this.tally, kind, step.prefillRows);
  }

  private endPause(step: StepPlan, at: number): void {
    const cause = this.since ?? (kindOf(step) === "mixed" ? "prompt" : "decode");
    if (step.decodeRows > 0) countPause(this.tally, cause, (at - this.textAt) / 1000, step.decodeRows);
    this.textAt = at;
    this.since = undefined;
  }

  finished(finish: StepFinish): StepFinish {
    return finish;
  }

  private tell({ guesses }: SchedulerLevels): void {
    addGuesses(this.tally.guesses, guesses);
    addGuesses(this.tally.guesses, this.told, -1);
    addGuesses(this.told, this.tally.guesses);
    this.send({ type: "steps", tally: this.tally });
    this.tally = noSteps();
    this.timer = undefined;
  }
}
