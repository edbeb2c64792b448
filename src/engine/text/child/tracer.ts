// Records the engine's timeline as trace events: decode calls and the time between them on one track, each request's
// phases on a track of its own, and the levels as counters. It contains no text of prompts or answers.

import type { Clock } from "../../../domain/clock.ts";
import type { FinishEvent } from "../../../domain/generate.ts";
import type { DraftJob } from "../../../scheduler/speculation/drafts.ts";
import { begin, counter, end, processName, slice, trackName, type Track } from "../../../telemetry/trace-events.ts";
import type { TraceFile } from "../../../telemetry/trace-file.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { StepFinish } from "../protocol.ts";
import type { ReadyPrompt } from "./intake.ts";
import { kindOf, type Decoded, type EngineObserver, type SchedulerLevels } from "./observer.ts";

type Phase = "queued" | "prefill" | "decode";

export class Tracer implements EngineObserver {
  private readonly steps: Track;
  private readonly phases = new Map<JobKey, Phase>();
  /** End of the last decode call; undefined when there is no work. */
  private lastEnd: number | undefined;
  /** The counters' values as last written. */
  private readonly written = new Map<string, string>();
  /** Offset from the engine's clock to wall time, which all engine processes that write to a trace share. */
  private readonly origin: number;

  constructor(
    private readonly file: Pick<TraceFile, "add">,
    clock: Clock,
    /** Process id of the engine process. */
    private readonly process: number,
  ) {
    this.steps = this.track(0);
    this.origin = clock.wall() - clock.now();
    file.add(processName(this.steps, "svc engine"), trackName(this.steps, "steps"));
  }

  accepted({ key, request, tokens }: ReadyPrompt, now: number): void {
    const track = this.track(key);
    const at = this.origin + now;
    this.phases.set(key, "queued");
    this.file.add(
      trackName(track, `request ${key}`),
      begin(track, "request", at, { id: request.id, prompt_tokens: tokens.length }),
      begin(track, "queued", at),
    );
  }

  started(keys: readonly JobKey[], now: number): void {
    for (const key of keys) this.enter(key, "prefill", this.origin + now);
  }

  decoded({ step, result, made, before, after }: Decoded, levels: SchedulerLevels): void {
    const { from, to } = this.call(before, after);
    this.count(levels, from);
    if ("rows" in step) {
      const { decodeRows, speculativeRows, rows } = step;
      // The rows of a chunk are written once, with its last slice.
      const prefillRows = result === "paused" ? 0 : step.prefillRows;
      const args = {
        decode_rows: decodeRows,
        prefill_rows: prefillRows,
        speculative_rows: speculativeRows,
        steps: made,
        result,
      };
      this.file.add(slice(this.steps, kindOf(step), from, to, args));
      if (result !== "done" || prefillRows === 0) return;
      for (const { key, sample } of rows) if (sample) this.enter(key, "decode", to);
    } else {
      this.file.add(slice(this.steps, "media", from, to, { media_rows: step.count, request: step.key, result }));
    }
  }

  drafted(jobs: readonly DraftJob[], before: number, after: number): void {
    const sum = (value: (job: DraftJob) => number) => jobs.reduce((total, job) => total + value(job), 0);
    const args = { fed_rows: sum(({ tokens }) => tokens.length), wanted: sum(({ count }) => count) };
    const { from, to } = this.call(before, after);
    this.file.add(slice(this.steps, "draft", from, to, args));
  }

  finished(finish: StepFinish, now: number, levels: SchedulerLevels): StepFinish {
    const { key, event } = finish;
    const phase = this.phases.get(key);
    if (!phase) return finish;
    const track = this.track(key);
    const at = this.origin + now;
    this.phases.delete(key);
    this.file.add(end(track, phase, at), end(track, "request", at, outcome(event)));
    this.count(levels, at);
    // Nothing is left to compute: the time until the next call is idle time, not time between steps.
    if (this.phases.size === 0) this.lastEnd = undefined;
    return finish;
  }

  /** Returns the times of a call, with its sampling. Between calls come text, messages and the next plan. */
  private call(before: number, after: number): { readonly from: number; readonly to: number } {
    const [from, to] = [this.origin + before, this.origin + after];
    if (this.lastEnd !== undefined) this.file.add(slice(this.steps, "between steps", this.lastEnd, from));
    this.lastEnd = to;
    return { from, to };
  }

  private enter(key: JobKey, phase: Phase, at: number): void {
    const before = this.phases.get(key);
    if (before === undefined || before === phase) return;
    // A preempted request's prompt is computed again: that still counts as decoding.
    if (before === "decode") return;
    this.phases.set(key, phase);
    this.file.add(end(this.track(key), before, at), begin(this.track(key), phase, at));
  }

  private count({ runningCount: running, waitingCount: waiting, kv }: SchedulerLevels, at: number): void {
    this.countIfNew("requests", { running, waiting }, at);
    this.countIfNew("kv cells", { used: kv.runningCells }, at);
  }

  private countIfNew(name: string, values: Readonly<Record<string, number>>, at: number): void {
    const written = Object.values(values).join();
    if (this.written.get(name) === written) return;
    this.written.set(name, written);
    this.file.add(counter(this.steps, name, at, values));
  }

  private track(thread: number): Track {
    return { process: this.process, thread };
  }
}

const outcome = ({ reason, usage }: FinishEvent) => ({
  reason,
  cached_tokens: usage.cachedTokens,
  completion_tokens: usage.completionTokens,
});
