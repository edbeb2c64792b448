// Continuous batching as bookkeeping: which tokens of which request go into the next decode call. Pure and
// synchronous: it never touches the model, a clock or a timer, so tests drive it step by step.
//
// Policy: every running stream decodes in every step. While anyone decodes, prompts are prefilled within a stall budget:
// between two steps, in slices of large chunks, where a chunk can be paused; else in the steps, in chunks that are sized
// from measured costs. The shortest remaining work comes first, with ageing. What a prompt shares
// with anything in the KV cache is not computed; what it shares with a prompt that is being computed, it waits for.
// Clients take turns by tokens served. A request is admitted when its tokens and a little headroom fit the cache beside
// those of the running ones; when the cache fills up all the same, the newest request gives its room back and is
// computed again later, so that no request fails because of another's size. Background requests take what room is left,
// and give it back at once when somebody needs it. A step has one set of LoRA adapters: requests of different sets take
// turns.

import { adapterKey, type AdapterSet } from "../domain/adapters.ts";
import type { GuessTally } from "../domain/speculation.ts";
import type { Waiting } from "../domain/waiting.ts";
import { AdapterTurns } from "./step/adapter-turns.ts";
import { Admission, type AdmissionLimits } from "./queue/run-queue.ts";
import type { DraftJob } from "./speculation/drafts.ts";
import type { FairQueue } from "./queue/fair-queue.ts";
import { Forecast } from "./cost/forecast.ts";
import { Interlude } from "./step/interlude.ts";
import { KvCache } from "./kv/kv-cache.ts";
import type { KvCommand } from "./kv/kv-command.ts";
import { MediaSteps } from "./step/media-steps.ts";
import type { SavedId } from "./kv/host-entries.ts";
import { stepsMade, type MediaStep, type Sampled, type SlicePlan, type StepPlan } from "./plan.ts";
import { PrefillBudget } from "./step/prefill.ts";
import { Sequence, type Key, type SequenceRequest } from "./sequence.ts";
import { Slices } from "./step/slices.ts";
import { Speculation, type SpeculationLimits } from "./speculation/speculation.ts";
import { StepCost } from "./cost/step-cost.ts";
import { StepPlanner, type PlannerLimits } from "./step/step-planner.ts";
import type { Stored, StoredId } from "./kv/prefix-index.ts";

export interface SchedulerLimits extends AdmissionLimits, PlannerLimits, SpeculationLimits {}

export class Scheduler {
  private readonly byKey = new Map<Key, Sequence>();
  private readonly kv: KvCache;
  private readonly admission: Admission;
  private readonly cost = new StepCost();
  private readonly planner: StepPlanner;
  private readonly forecast: Forecast;
  private readonly turns = new AdapterTurns();
  private readonly speculation: Speculation;
  private readonly media: MediaSteps;
  private readonly interlude = new Interlude();
  private readonly slices: Slices;

  /** `keyOf`: the same for sets of adapters that compute the same, and for no others; what is on disk has it too. */
  constructor(
    private readonly limits: SchedulerLimits,
    private readonly keyOf: (adapters: AdapterSet) => string = adapterKey,
  ) {
    const { cost, interlude } = this;
    const kv = new KvCache(limits, cost);
    this.kv = kv;
    const budget = new PrefillBudget(limits, cost);
    this.speculation = new Speculation(limits, kv);
    this.slices = new Slices(limits.chunk, kv, cost, budget, interlude);
    this.admission = new Admission(limits, kv, cost, (sequence) => {
      this.slices.abandon(sequence);
      this.speculation.release(sequence);
    });
    const { running } = this.admission;
    this.planner = new StepPlanner(limits, running, kv, cost, budget, this.slices, this.speculation);
    this.media = new MediaSteps(limits, running, kv, cost, budget, interlude);
    this.forecast = new Forecast(cost, limits.stallBudgetMs);
  }

  get runningCount(): number {
    return this.running.length;
  }

  get waitingCount(): number {
    return this.queue.size;
  }

  /** Those that wait, by what for. */
  waiting(now: number): Waiting {
    return this.admission.waiting(now);
  }

  /** Tokens of the requests that wait. */
  get waitingTokens(): number {
    return this.queue.tokens;
  }

  get preemptions(): number {
    return this.admission.preemptions;
  }

  /** What was guessed so far, and what of it was right. */
  get guesses(): GuessTally {
    return this.speculation.tally;
  }

  /** KV cells that hold tokens of running requests. */
  get cellsUsed(): number {
    return this.kv.runningCells;
  }

  /** KV cells that hold tokens. */
  get cellsHeld(): number {
    return this.kv.cells;
  }

  /** KV cells that hold tokens of finished requests only, for later ones. */
  get cellsCached(): number {
    return this.kv.cells - this.kv.runningCells;
  }

  /** Tokens of finished requests that were given up, in all. */
  get evictedTokens(): number {
    return this.kv.evicted;
  }

  /** When a running request is expected to end, in milliseconds from now; undefined while a sequence is free. */
  placeFreeMs(): number | undefined {
    if (this.running.length === 0 || (!this.admission.isFull && this.queue.size === 0)) return undefined;
    return this.forecast.firstEndMs(this.running);
  }

  /**
   * When a request that comes now is likely to have its first token, in milliseconds from now and at the earliest: as soon as
   * a sequence is free and what nobody has computed of its prompt is computed.
   */
  firstTokenMs(request: SequenceRequest, now: number): number {
    const sequence = new Sequence(request, now, this.keyOf);
    const waits = this.admission.waitsForEnd(sequence) && this.forecast.isInformed;
    const { tokens } = this.kv.reusable(sequence, now);
    const shared = this.limits.reuse ? this.running.map((other) => other.sharedWith(sequence, sequence.length)) : [];
    const missing = sequence.length - Math.max(tokens, ...shared);
    return (waits ? this.forecast.firstEndMs(this.running) : 0) + this.forecast.promptMs(missing);
  }

  get hasWork(): boolean {
    return this.byKey.size > 0;
  }

  /** Queues a request at a time in milliseconds. Its prompt must not be empty and prompt plus `maxTokens` must fit the cache. */
  add(request: SequenceRequest, now: number): void {
    const sequence = new Sequence(request, now, this.keyOf);
    this.byKey.set(request.key, sequence);
    this.queue.add(sequence);
  }

  /** Forgets a request, finished or cancelled; what it computed may serve later ones. */
  remove(key: Key, now: number): void {
    const sequence = this.byKey.get(key);
    if (!sequence) return;
    this.byKey.delete(key);
    if (sequence.generated > 0) this.forecast.record(sequence.generated);
    this.admission.remove(sequence, now);
  }

  /** Prompt tokens of a request that were in the cache when it came. */
  cachedTokens(key: Key): number {
    return this.byKey.get(key)?.cached ?? 0;
  }

  /** What is to be done to the KV cache before the next decode call; each command is given once. */
  takeCommands(): readonly KvCommand[] {
    return this.kv.takeCommands();
  }

  /** What a sequence was to be restored from is no good: its request computes everything. The last plan is void. */
  lost({ sequence: sequenceId, saved }: { readonly sequence: number; readonly saved: SavedId }): void {
    this.kv.spill.distrust(saved);
    this.cleared(sequenceId);
  }

  /** The cache holds nothing of a sequence any more: its request computes everything. */
  cleared(sequenceId: number): void {
    const sequence = this.running.find(({ id }) => id === sequenceId);
    if (!sequence) return;
    this.slices.abandon(sequence);
    sequence.cached = 0;
    sequence.computed = 0;
    this.kv.shorten(sequence);
  }

  /** Tokens that are in host memory, and those that went and came back from there, in all. */
  get spill(): { readonly tokens: number; readonly moved: number; readonly restored: number } {
    const { tokens, moved, restored } = this.kv.spill;
    return { tokens, moved, restored };
  }

  /** It is on disk: since an earlier start, or by now. */
  stored(stored: Stored): void {
    this.kv.spill.disk.add(stored);
  }

  /** It is not on disk any more. */
  unstored(id: StoredId): void {
    this.kv.spill.disk.remove(id);
  }

  /** What a command saved takes so many bytes, those of its other parts aside. */
  wrote(saved: SavedId, bytes: number, now: number): void {
    this.kv.spill.wrote(saved, bytes, now);
  }

  /** What was to be read from disk is in host memory now, so many bytes; or it could not be read. */
  loaded(saved: SavedId, bytes: number | undefined, now: number): void {
    this.kv.spill.loaded(saved, bytes, now);
  }

  /** Nothing runs any more, and nothing will: moves the next best of what is kept to disk; false when nothing is left. */
  storeNext(now: number): boolean {
    return this.kv.storeNext(now);
  }

  /** What the draft model is to do before the next step is planned; nothing, mostly. */
  planDrafts(): readonly DraftJob[] {
    const alone = this.running.every((sequence) => sequence.decoding);
    const [next = []] = alone ? this.turns.inOrder(this.running) : [];
    return this.speculation.planDrafts(next, (sequence) => this.forecast.remaining(sequence));
  }

  /**
   * Takes in what the draft model wrote for each job, undefined where it cannot follow; of all, undefined when it had no
   * room. It took so many decode calls and milliseconds.
   */
  applyDrafts(
    jobs: readonly DraftJob[],
    drafted: readonly (Int32Array | undefined)[] | undefined,
    rounds: number,
    ms: number,
  ): void {
    this.speculation.applyDrafts(jobs, (key) => this.byKey.get(key), drafted, rounds, ms);
  }

  /** Decides the next step, or undefined when there is nothing to compute. */
  plan(now: number): StepPlan | undefined {
    this.interlude.end(this.streams);
    this.admit(now);
    const computable = this.running.filter((sequence) => !sequence.mediaNext);
    for (const group of this.turns.inOrder(computable)) {
      const plan = this.planner.plan(group, now);
      if (plan) return plan;
    }
    return undefined;
  }

  /** The next slice of a chunk of prompts, when one is due: between two steps of the streams. */
  planSlice(now: number): SlicePlan | undefined {
    return this.planner.planSlice(this.streams, now);
  }

  /** Takes in a slice: its chunk is done, or there is more of it, or it was given up and has left nothing. */
  applySlice(result: "done" | "paused" | "given up", ms: number): void {
    this.speculation.interrupted();
    const chunk = this.slices.apply(result, ms);
    if (chunk) this.applyStep(chunk.plan, [], chunk.ms, 0);
  }

  /** The next piece of a medium, when one is due: it is computed in a step of its own, between others' steps. */
  planMedia(now: number): MediaStep | undefined {
    if (!this.running.some(({ mediaNext }) => mediaNext)) return undefined;
    // Who comes while media are computed has a turn too.
    this.admit(now);
    return this.media.plan(this.streams, now);
  }

  /** A piece of a medium is in the cache; or it is not, and the whole medium is to be computed again. */
  applyMedia(step: MediaStep, done: boolean, ms: number): void {
    this.interlude.spend(ms);
    this.speculation.interrupted();
    const sequence = this.byKey.get(step.key);
    if (sequence) this.media.apply(sequence, step, done);
  }

  /**
   * Takes in a finished step: `tokens` holds one token for each row with `sample`, in row order, and -1 behind a wrong
   * guess. Those of several steps follow each other, -1 for steps that were not made.
   */
  apply(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    const adapters = this.keyOf(plan.adapters);
    this.turns.served(adapters);
    this.interlude.served(adapters);
    if (plan.steps > 1) return this.applySteps(plan, tokens, ms);
    // Prompts that streams of other adapters wait for are sized as if those were in the step.
    return this.applyStep(plan, tokens, ms, plan.prefillRows > 0 ? this.streams.length : plan.decodeRows);
  }

  private applyStep(plan: StepPlan, tokens: ArrayLike<number>, ms: number, streams: number): Sampled[] {
    const { inUse } = this.kv;
    if (plan.guessRows === 0) this.cost.record(streams, plan.prefillRows, ms, inUse);
    if (this.running.length === 1 && streams === 0) this.cost.recordAlone(plan.prefillRows, ms, inUse);
    const sampled: Sampled[] = [];
    let next = 0;
    for (const [at, row] of plan.rows.entries()) {
      const token = row.sample ? (tokens[next++] as number) : undefined;
      const sequence = this.byKey.get(row.key);
      if (!sequence) continue;
      if (token !== -1) sequence.computed = row.index + 1;
      if (token !== undefined && token !== -1) {
        sequence.append(token);
        const more = plan.rows[at + 1]?.key === row.key && tokens[next] !== -1;
        sampled.push({ key: row.key, token, more, last: sequence.generated >= sequence.maxTokens });
      }
      if (plan.rows[at + 1]?.key !== row.key) this.kv.extend(sequence);
    }
    for (const { key } of sampled) this.queue.charge(this.byKey.get(key)?.client ?? "", 0, 1);
    if (plan.prefillRows === 0) this.speculation.judge(plan, (key) => this.byKey.get(key), 1);
    else this.speculation.interrupted();
    return sampled;
  }

  private applySteps(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    const { rows, decodeRows } = plan;
    const made = stepsMade(plan, tokens);
    this.cost.record(decodeRows, 0, ms / made, this.kv.inUse);
    this.speculation.judge(plan, (key) => this.byKey.get(key), made);
    const sampled: Sampled[] = [];
    for (const [at, { key, index }] of rows.entries()) {
      const sequence = this.byKey.get(key);
      if (!sequence) continue;
      for (let step = 0; step < made; step++) {
        const token = tokens[step * rows.length + at] as number;
        sequence.append(token);
        sampled.push({ key, token, more: step < made - 1, last: sequence.generated >= sequence.maxTokens });
      }
      sequence.computed = index + made;
      this.kv.extend(sequence);
      this.queue.charge(sequence.client, 0, made);
    }
    return sampled;
  }

  /**
   * The cache refused a batch that should have fitted: gives back the room of the newest request, of the newest background
   * one where there is any. False if it is alone.
   */
  preemptNewest(now: number): boolean {
    return this.admission.preemptNewest(now);
  }

  private get running(): readonly Sequence[] {
    return this.admission.running;
  }

  private get streams(): Sequence[] {
    return this.running.filter((sequence) => sequence.decoding);
  }

  private get queue(): FairQueue {
    return this.admission.queue;
  }

  /** Starts what waits, as far as the streams leave room. */
  private admit(now: number): void {
    this.kv.spill.beginStep(this.streams.length > 0 ? this.limits.stallBudgetMs : Number.POSITIVE_INFINITY);
    while (!this.kv.makeRoom(this.streams.length, now) && this.preemptNewest(now));
    this.admission.admit(now);
  }
}
