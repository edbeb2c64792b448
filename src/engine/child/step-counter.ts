// Counts decode calls for the metrics and tells the counts about once a second, while there are any.

import { addGuesses, noGuesses } from "../../domain/guesses.ts";
import { countChunk, countPause, countStep, noSteps } from "../../domain/steps.ts";
import type { FromEngine, StepFinish } from "../protocol.ts";
import { kindOf, type Decoded, type EngineObserver, type SchedulerLevels } from "./observer.ts";

const TELL_MS = 1000;

export class StepCounter implements EngineObserver {
  private tally = noSteps();
  /** Guesses that were told before. */
  private readonly told = noGuesses();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last step of text ended, in which every stream that runs now had a token. */
  private textAt = 0;
  /** Media were computed since. */
  private mediaSince = false;

  constructor(private readonly send: (message: FromEngine) => void) {}

  accepted(): void {}

  decoded({ step, result, made, before, after }: Decoded, levels: SchedulerLevels): void {
    // What is not done is computed again and counts then.
    if (result !== "done") return;
    const kind = kindOf(step);
    for (let count = 0; count < made; count++) countStep(this.tally, kind, (after - before) / made / 1000);
    if ("rows" in step) {
      this.tally.rows.decode += step.decodeRows * made;
      this.tally.rows.prefill += step.prefillRows;
      if (kind === "prefill" || kind === "mixed") countChunk(this.tally, kind, step.prefillRows);
      if (step.decodeRows > 0) {
        const cause = this.mediaSince ? "media" : kind === "mixed" ? "prompt" : "decode";
        countPause(this.tally, cause, (after - this.textAt) / 1000, step.decodeRows);
      }
      this.textAt = after;
      this.mediaSince = false;
    } else {
      this.tally.rows.media += step.count;
      this.mediaSince = true;
    }
    this.timer ??= setTimeout(() => this.tell(levels), TELL_MS);
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
