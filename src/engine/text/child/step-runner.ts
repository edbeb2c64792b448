// Runs the scheduler's plans in the native library: steps, slices of chunks, pieces of media and drafts.

import type { Batch, Llama } from "../../../../ffi/llama/api.ts";
import type { Media } from "../../../../ffi/media/api.ts";
import { adapterKey, type AdapterSet } from "../../../domain/adapters.ts";
import type { Clock } from "../../../domain/clock.ts";
import {
  stepsMade,
  type MediaStep,
  type PlanRow,
  type Sampled,
  type SlicePlan,
  type StepPlan,
} from "../../../scheduler/plan.ts";
import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { ActiveRequest } from "./active-request.ts";
import type { KvCommands } from "./kv-commands.ts";
import type { MediaPrompt } from "./media-prompts.ts";
import type { Decoded, EngineObserver } from "./observer.ts";

/** Milliseconds. After an abort the next step waits for the cancel message, which comes later: else it repeats work. */
const CANCEL_WAIT_MS = 100;
/** Scored rows of a prompt carry this minus their sampler; see svc_decode in shim.h. */
const SCORED = -2;

export interface StepHooks {
  /** A computation of about this length begins; Infinity if that is unknown or there is nothing to compute. */
  begins(expectedMs: number, now: number): void;
  /** The first computation of these requests begins. */
  started(keys: readonly JobKey[], now: number): void;
  /** A computation has ended and has sampled these tokens. */
  stepped(sampled: readonly Sampled[], now: number): void;
}

/** Accepted requests. */
interface Requests {
  readonly active: ReadonlyMap<JobKey, ActiveRequest>;
  /** The prompts of the requests with media. */
  readonly mediaPrompts: ReadonlyMap<JobKey, MediaPrompt>;
}

export class StepRunner {
  /** Number of steps so far. */
  steps = 0;
  private readonly batch: Batch;
  private readonly sampled: Int32Array;
  /** Whether sequences can be trimmed anywhere; else an aborted step's tokens are removed with the whole sequence. */
  private readonly canTrim: boolean;
  /** Key of the adapters in use. */
  private adapters = adapterKey([]);
  /** Set after an aborted step, until its cancel message arrives. */
  private aborted: PromiseWithResolvers<void> | undefined;
  /** Milliseconds per step of the last decode call, if it had no prompt rows; else Infinity. */
  private stepMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly llama: Llama,
    private readonly scheduler: Scheduler,
    private readonly kv: KvCommands,
    private readonly requests: Requests,
    private readonly clock: Clock,
    private readonly hooks: StepHooks,
    private readonly media: Media | undefined,
    private readonly observers: readonly EngineObserver[],
  ) {
    const column = () => new Int32Array(llama.model().batch);
    this.canTrim = llama.model().canRemovePartial;
    this.batch = {
      tokens: column(),
      positions: column(),
      sequences: column(),
      samplers: column(),
      owners: column(),
    };
    this.sampled = column();
  }

  /** Called when a request is cancelled. */
  cancelled(): void {
    this.aborted?.resolve();
  }

  /** Waits for the cancel message of an aborted step, for `CANCEL_WAIT_MS` at most; not at all if none was aborted. */
  async afterAbort(): Promise<void> {
    if (this.aborted) await Promise.race([this.aborted.promise, Bun.sleep(CANCEL_WAIT_MS)]);
    this.aborted = undefined;
  }

  /** Computes the next step, slice, medium or draft. Returns false when there was nothing to compute. */
  step(): boolean {
    this.draft();
    const before = this.clock.now();
    const media = this.scheduler.planMedia(before);
    const slice = media ? undefined : this.scheduler.planSlice(before);
    const plan = media || slice ? undefined : this.scheduler.plan(before);
    this.hooks.begins(plan?.prefillRows === 0 ? this.stepMs * plan.steps : Number.POSITIVE_INFINITY, before);
    this.stepMs = Number.POSITIVE_INFINITY;
    if (media) this.runMedia(media);
    else if (slice) this.runSlice(slice);
    else if (plan) this.runStep(plan, before);
    else this.prepareCache();
    return (media ?? slice ?? plan) !== undefined;
  }

  /** Executes the commands for the KV cache. Returns false when a restore failed: the plan is then void. */
  prepareCache(): boolean {
    const lost = this.kv.run(this.scheduler.kv.takeCommands());
    for (const sequence of lost) this.scheduler.cleared(sequence);
    return lost.size === 0;
  }

  private draft(): void {
    const jobs = this.scheduler.planDrafts();
    if (jobs.length === 0) return;
    const before = this.clock.now();
    const drafted = this.llama.draft(jobs);
    const after = this.clock.now();
    for (const one of this.observers) one.drafted?.(jobs, before, after);
    this.scheduler.applyDrafts({ jobs, rounds: 0, ...drafted, ms: after - before });
  }

  private runStep(plan: StepPlan, planned: number): void {
    if (plan.started.length > 0) this.hooks.started(plan.started, planned);
    if (!this.prepareCache()) return;
    const before = this.clock.now();
    const result = this.decode(plan);
    const made = result === "done" ? stepsMade(plan, this.sampled) : 0;
    const after = this.count({ step: plan, result, made, before });
    if (result === "aborted") this.undo(plan);
    if (result !== "done") return this.prepareRetry(result, after);
    if (plan.prefillRows > 0) this.takeScores(plan);
    if (plan.prefillRows === 0) this.stepMs = (after - before) / made;
    this.hooks.stepped(this.scheduler.apply(plan, this.sampled, after - before), after);
  }

  private runSlice({ chunk, begins, ms }: SlicePlan): void {
    if (begins && chunk.started.length > 0) this.hooks.started(chunk.started, this.clock.now());
    if (!this.prepareCache()) return;
    const before = this.clock.now();
    if (begins) {
      this.fillBatch(chunk);
      this.setAdapters(chunk.adapters);
      this.llama.chunkBegin(this.batch, chunk.rows.length);
    }
    const result = this.llama.chunkResume(ms);
    const counts = result === "done" || result === "paused";
    const after = this.count({ step: chunk, result, made: Number(counts), before });
    this.scheduler.applySlice(counts ? result : "abandoned", after - before);
    this.hooks.stepped([], after);
    this.prepareRetry(result, after);
  }

  private runMedia(step: MediaStep): void {
    const prompt = this.requests.mediaPrompts.get(step.key);
    const span = prompt?.spans.find(({ start }) => start === step.span.start);
    if (!this.media || !prompt || !span) throw new Error("a step for media of an unknown request");
    const { media } = this;
    if (step.starts) this.hooks.started([step.key], this.clock.now());
    if (!this.prepareCache()) return;
    const before = this.clock.now();
    this.setAdapters(step.adapters);
    const result = this.llama.decodeEmbeddings(
      {
        address: media.embeddings(prompt.job, span.chunk, step.offset),
        positions: media.positions(prompt.job, span.chunk, step.position, step.offset, step.count),
        count: step.count,
        sequence: step.sequence,
        nonCausal: span.whole,
      },
      step.key,
    );
    const done = result === "done";
    const after = this.count({ step, result, made: Number(done), before });
    this.scheduler.applyMedia(step, done, after - before);
    if (done) this.hooks.stepped([], after);
    else this.takeBack(step.sequence, step.position);
    this.prepareRetry(result, after);
  }

  /** Counts a call that has ended, and reports it. Returns when it ended. */
  private count(call: Omit<Decoded, "after">): number {
    const after = this.clock.now();
    this.steps += call.made;
    for (const one of this.observers) one.decoded({ ...call, after }, this.scheduler);
    return after;
  }

  /** Prepares for the next plan, which contains what this call did not compute. */
  private prepareRetry(result: Decoded["result"], now: number): void {
    if (result === "aborted") this.aborted = Promise.withResolvers();
    if (result === "no-capacity" && !this.scheduler.preemptOne(now))
      throw new Error("the KV cache refused rows that fit it");
  }

  private decode(plan: StepPlan) {
    this.fillBatch(plan);
    this.setAdapters(plan.adapters);
    return this.llama.decode(this.batch, plan.rows.length, plan, this.sampled);
  }

  /**
   * Whether cancelled requests may abort a step or a chunk, of which nothing is kept. Where sequences cannot be trimmed,
   * the others would lose all their tokens: then only a prompt alone may be aborted.
   */
  private mayAbort({ rows, decodeRows }: StepPlan): boolean {
    return this.canTrim || (decodeRows === 0 && rows.every(({ key }) => key === rows[0]?.key));
  }

  private fillBatch(plan: StepPlan): void {
    const { tokens, positions, sequences, samplers, owners } = this.batch;
    const mayAbort = this.mayAbort(plan);
    plan.rows.forEach((row, index) => {
      tokens[index] = row.token;
      positions[index] = row.position;
      sequences[index] = row.sequence;
      samplers[index] = this.samplerOf(row);
      owners[index] = mayAbort ? row.key : 0;
    });
  }

  private samplerOf({ key, sample, score }: PlanRow): number {
    if (!sample && !score) return -1;
    const sampler = this.requests.active.get(key)?.sampler;
    if (sampler === undefined) return -1;
    return sample ? sampler : SCORED - sampler;
  }

  private takeScores({ rows }: StepPlan): void {
    const scored = rows.filter(({ score }) => score);
    if (scored.length === 0) return;
    for (const [key, own] of Map.groupBy(scored, (row) => row.key)) {
      this.requests.active.get(key)?.scored(own.map(({ index }) => index));
    }
  }

  private setAdapters(adapters: AdapterSet): void {
    const key = adapterKey(adapters);
    if (key !== this.adapters) this.llama.setAdapters(adapters);
    this.adapters = key;
  }

  /** Removes what an aborted step may have left in the KV cache. */
  private undo(plan: StepPlan): void {
    const seen = new Set<number>();
    for (const { sequence, position } of plan.rows) {
      if (!seen.has(sequence)) this.takeBack(sequence, position);
      seen.add(sequence);
    }
  }

  private takeBack(sequence: number, position: number): void {
    if (this.canTrim && this.llama.kvRemove(sequence, position, -1)) return;
    this.llama.kvRemove(sequence, 0, -1);
    this.scheduler.cleared(sequence);
  }
}
