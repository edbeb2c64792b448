// Counts decode calls for the metrics and tells the counts about once a second, while there are any.

import { countStep, noSteps } from "../../domain/steps.ts";
import type { FromEngine, StepFinish } from "../protocol.ts";
import { kindOf, type Decoded, type EngineObserver } from "./observer.ts";

const TELL_MS = 1000;

export class StepCounter implements EngineObserver {
  private tally = noSteps();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly send: (message: FromEngine) => void) {}

  accepted(): void {}

  decoded({ step, result, made, before, after }: Decoded): void {
    // What is not done is computed again and counts then.
    if (result !== "done" && result !== "paused") return;
    for (let count = 0; count < made; count++) countStep(this.tally, kindOf(step), (after - before) / made / 1000);
    if (result === "paused") {
      // Rows count when all of them are computed.
    } else if ("rows" in step) {
      this.tally.rows.decode += step.decodeRows * made;
      this.tally.rows.prefill += step.prefillRows;
    } else this.tally.rows.media += step.count;
    this.timer ??= setTimeout(() => this.tell(), TELL_MS);
  }

  finished(finish: StepFinish): StepFinish {
    return finish;
  }

  private tell(): void {
    this.send({ type: "steps", tally: this.tally });
    this.tally = noSteps();
    this.timer = undefined;
  }
}
