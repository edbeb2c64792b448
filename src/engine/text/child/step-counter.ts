// Counts decode calls for the metrics, and sends the counts about once a second while there are any.

import { addSpeculation, noSpeculation } from "../../../domain/speculation.ts";
import { countChunk, countPause, countStep, noSteps, type StepCounts } from "../../../domain/steps.ts";
import type { StepPlan } from "../../../scheduler/plan.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { StepFinish } from "../protocol.ts";
import { kindOf, type Decoded, type EngineObserver, type SchedulerLevels } from "./observer.ts";

const SEND_MS = 1000;

export class StepCounter implements EngineObserver {
  private counts = noSteps();
  /** The speculation counts that were already sent. */
  private readonly sent = noSpeculation();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** When the last step of each running stream ended. */
  private readonly textAt = new Map<JobKey, number>();
  /** When prompts and media were last computed, even if the call failed. */
  private promptAt = 0;
  private mediaAt = 0;

  constructor(private readonly report: (steps: StepCounts) => void) {}

  decoded({ step, result, made, before, after }: Decoded, levels: SchedulerLevels): void {
    const kind = kindOf(step);
    if (kind === "media") this.mediaAt = after;
    else if (kind !== "decode") this.promptAt = after;
    // What was not done is computed again, and is counted then.
    if (made === 0) return;
    for (let count = 0; count < made; count++) countStep(this.counts, kind, (after - before) / made / 1000);
    if (!("rows" in step)) this.counts.rows.media += step.count;
    else if (result === "done") this.countRows(step, made, after);
    this.timer ??= setTimeout(() => this.sendCounts(levels), SEND_MS);
  }

  private countRows(step: StepPlan, made: number, at: number): void {
    const kind = kindOf(step);
    this.counts.rows.decode += step.decodeRows * made;
    this.counts.rows.prefill += step.prefillRows;
    if (kind === "prefill" || kind === "mixed") countChunk(this.counts, kind, step.prefillRows);
    for (const key of new Set(step.rows.flatMap((row) => (row.sample ? row.key : [])))) this.endPause(key, at);
  }

  private endPause(key: JobKey, at: number): void {
    const since = this.textAt.get(key);
    this.textAt.set(key, at);
    if (since === undefined) return;
    const cause = this.mediaAt > since ? "media" : this.promptAt > since ? "prompt" : "decode";
    countPause(this.counts, cause, (at - since) / 1000);
  }

  finished(finish: StepFinish): StepFinish {
    this.textAt.delete(finish.key);
    return finish;
  }

  private sendCounts({ speculated }: SchedulerLevels): void {
    addSpeculation(this.counts.speculation, speculated);
    addSpeculation(this.counts.speculation, this.sent, -1);
    addSpeculation(this.sent, this.counts.speculation);
    this.report(this.counts);
    this.counts = noSteps();
    this.timer = undefined;
  }
}
