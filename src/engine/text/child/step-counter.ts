// Counts decode calls for the metrics and tells the counts about once a second, while there are any.

import { addGuesses, noGuesses } from "../../../domain/speculation.ts";
import { countChunk, countPause, countStep, noSteps } from "../../../domain/steps.ts";
import type { StepPlan } from "../../../scheduler/plan.ts";
import type { RequestKey } from "../../process/protocol.ts";
import type { FromEngine, StepFinish } from "../protocol.ts";
import { kindOf, type Decoded, type EngineObserver, type SchedulerLevels } from "./observer.ts";

const TELL_MS = 1000;

export class StepCounter implements EngineObserver {
  private tally = noSteps();
  /** Guesses that were told before. */
  private readonly told = noGuesses();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last step of each running stream ended. */
  private readonly textAt = new Map<RequestKey, number>();
  /** When prompts and media were computed last, whatever came of it. */
  private promptAt = 0;
  private mediaAt = 0;

  constructor(private readonly send: (message: FromEngine) => void) {}

  accepted(): void {}

  decoded({ step, result, made, before, after }: Decoded, levels: SchedulerLevels): void {
    const kind = kindOf(step);
    if (kind === "media") this.mediaAt = after;
    else if (kind !== "decode") this.promptAt = after;
    // What is not done is computed again and counts then.
    if (made === 0) return;
    for (let count = 0; count < made; count++) countStep(this.tally, kind, (after - before) / made / 1000);
    if (!("rows" in step)) this.tally.rows.media += step.count;
    else if (result === "done") this.countRows(step, made, after);
    this.timer ??= setTimeout(() => this.tell(levels), TELL_MS);
  }

  private countRows(step: StepPlan, made: number, at: number): void {
    const kind = kindOf(step);
    this.tally.rows.decode += step.decodeRows * made;
    this.tally.rows.prefill += step.prefillRows;
    if (kind === "prefill" || kind === "mixed") countChunk(this.tally, kind, step.prefillRows);
    for (const key of new Set(step.rows.flatMap((row) => (row.sample ? row.key : [])))) this.endPause(key, at);
  }

  private endPause(key: RequestKey, at: number): void {
    const since = this.textAt.get(key);
    this.textAt.set(key, at);
    if (since === undefined) return;
    const cause = this.mediaAt > since ? "media" : this.promptAt > since ? "prompt" : "decode";
    countPause(this.tally, cause, (at - since) / 1000);
  }

  finished(finish: StepFinish): StepFinish {
    this.textAt.delete(finish.key);
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
