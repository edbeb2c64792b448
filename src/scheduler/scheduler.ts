// Continuous batching as bookkeeping: which tokens of which request go into the next decode call. Pure and
// synchronous: it never touches the model, a clock or a timer, so tests drive it step by step.
//
// Policy: every running stream decodes in every step. While streams decode, prompts are prefilled within a stall budget:
// between two steps, in slices of large chunks, where a chunk can be paused; else in the steps, in chunks that are sized
// from measured costs. The shortest remaining work comes first, with ageing. A prefix that is in a cache is not computed; a
// request waits for a prefix that another is computing. Clients take turns by tokens served. A request is admitted when its
// tokens and a little headroom fit the cache beside those of the running ones. If the cache fills up all the same, the
// newest request is preempted and resumed later, so that no request fails because of another's size. Background requests
// use idle capacity and are preempted as soon as others need it. A step has one set of LoRA adapters: requests of different
// sets take turns.

import { adapterKey, type AdapterSet } from "../domain/adapters.ts";
import type { SpeculationCounts } from "../domain/speculation.ts";
import type { Waiting } from "../domain/waiting.ts";
import { Forecast } from "./cost/forecast.ts";
import { StepCost } from "./cost/step-cost.ts";
import { KvCache } from "./kv/kv-cache.ts";
import { multiStepMs, type MediaStep, type Sampled, type SlicePlan, type StepPlan } from "./plan.ts";
import { RunQueue, type QueueLimits } from "./queue/run-queue.ts";
import { Sequence, type Key, type SequenceRequest } from "./sequence.ts";
import { Slots } from "./slots.ts";
import type { DraftJob, DraftsDone } from "./speculation/drafts.ts";
import { Speculation, type SpeculationLimits } from "./speculation/speculation.ts";
import { AdapterTurns } from "./step/adapter-turns.ts";
import { Interlude } from "./step/interlude.ts";
import { MediaSteps } from "./step/media-steps.ts";
import { PrefillBudget } from "./step/prefill.ts";
import { Slices, type SliceResult } from "./step/slices.ts";
import { StepPlanner, type PlannerLimits } from "./step/step-planner.ts";
import { StepResults } from "./step/step-results.ts";

export interface SchedulerLimits extends QueueLimits, PlannerLimits, SpeculationLimits {}

export class Scheduler {
  /** The KV cache, with the host and the disk cache below it: the engine reports to them directly. */
  readonly kv: KvCache;
  readonly slots: Slots;
  private readonly byKey = new Map<Key, Sequence>();
  private readonly queue: RunQueue;
  private readonly cost = new StepCost();
  private readonly planner: StepPlanner;
  private readonly results: StepResults;
  private readonly forecast: Forecast;
  private readonly turns = new AdapterTurns();
  private readonly speculation: Speculation;
  private readonly media: MediaSteps;
  private readonly interlude = new Interlude();
  private readonly slices: Slices;

  /**
   * `keyOf`: equal for sets of adapters that compute the same, and only for those; entries on disk carry it too. `preempted`:
   * called about each request that is.
   */
  constructor(
    private readonly limits: SchedulerLimits,
    private readonly keyOf: (adapters: AdapterSet) => string = adapterKey,
    preempted: (key: Key) => void = () => {},
  ) {
    const { cost, interlude, byKey } = this;
    const kv = new KvCache(limits, cost);
    this.kv = kv;
    this.slots = new Slots(kv, limits.parallel);
    const budget = new PrefillBudget(limits, cost);
    this.speculation = new Speculation(limits, kv);
    this.slices = new Slices(limits.chunk, kv, cost, budget, interlude);
    this.queue = new RunQueue(limits, kv, cost, (sequence) => {
      if (sequence.preempted) preempted(sequence.key);
      this.slices.abandon(sequence);
      this.speculation.release(sequence);
    });
    this.planner = new StepPlanner(limits, this.queue, kv, cost, budget, this.slices, this.speculation);
    this.results = new StepResults(byKey, this.queue, kv, cost, this.speculation);
    this.media = new MediaSteps(limits, this.queue, kv, cost, budget, interlude);
    this.forecast = new Forecast(cost, limits.stallBudgetMs);
  }

  get runningCount(): number {
    return this.queue.running.length;
  }

  get waitingCount(): number {
    return this.queue.waiting.size;
  }

  /** Tokens of waiting requests, without those in the background. */
  get waitingTokens(): number {
    return this.queue.waiting.tokens;
  }

  /** Waiting requests by what they wait for. */
  waitingFor(now: number): Waiting {
    return this.queue.waitingFor(now);
  }

  /** Preemptions so far. */
  get preemptions(): number {
    return this.queue.preemptions;
  }

  /** Speculative tokens so far. */
  get speculated(): SpeculationCounts {
    return this.speculation.counts;
  }

  get hasWork(): boolean {
    return this.byKey.size > 0;
  }

  /** When a running request is expected to end, in milliseconds from now; undefined while a sequence is free. */
  placeFreeMs(): number | undefined {
    const { running, waiting, isFull } = this.queue;
    if (running.length === 0 || (!isFull && waiting.size === 0)) return undefined;
    return this.forecast.firstEndMs(running);
  }

  /**
   * When a new request is likely to have its first token, in milliseconds from now and at the earliest: as soon as a sequence
   * is free and the part of its prompt that is in no cache is computed.
   */
  firstTokenMs(request: SequenceRequest, now: number): number {
    const { running } = this.queue;
    const sequence = new Sequence(request, now, this.keyOf);
    const waits = this.queue.waitsForEnd(sequence) && this.forecast.isInformed;
    const { tokens } = this.kv.reusable(sequence, now);
    const shared =
      this.limits.reuse && !sequence.fresh ? running.map((other) => other.sharedWith(sequence, sequence.length)) : [];
    const missing = sequence.length - Math.max(tokens, ...shared);
    return (waits ? this.forecast.firstEndMs(running) : 0) + this.forecast.promptMs(missing);
  }

  /** Queues a request at a time in milliseconds. Its prompt must not be empty and prompt plus `maxTokens` must fit the cache. */
  add(request: SequenceRequest, now: number): void {
    const sequence = new Sequence(request, now, this.keyOf);
    this.byKey.set(request.key, sequence);
    this.queue.waiting.add(sequence);
  }

  /** Forgets a request, finished or cancelled; what it computed may serve later ones. */
  remove(key: Key, now: number): void {
    const sequence = this.byKey.get(key);
    if (!sequence) return;
    this.byKey.delete(key);
    if (sequence.generated > 0) this.forecast.record(sequence.generated);
    this.slots.ended(sequence);
    this.queue.remove(sequence, now);
  }

  /** Prompt tokens of a request that were cached when it was admitted. */
  cachedTokens(key: Key): number {
    return this.byKey.get(key)?.cached ?? 0;
  }

  /** Tokens of a request that are in the cache, and those that were there before it; of its prompt alone while that is computed. */
  progress(key: Key): { readonly processed: number; readonly cached: number } {
    const { computed = 0, cached = 0, promptLength = 0 } = this.byKey.get(key) ?? {};
    return { processed: Math.min(computed, promptLength), cached };
  }

  /** A sequence of the KV cache had to be cleared: its request, if it has one, computes everything again. */
  cleared(sequenceId: number): void {
    const sequence = this.queue.running.find(({ id }) => id === sequenceId);
    if (!sequence) return this.kv.lost(sequenceId);
    this.slices.abandon(sequence);
    sequence.cached = 0;
    sequence.computed = 0;
    this.kv.shorten(sequence);
  }

  /** Plans what the draft model does before the next step is planned; mostly nothing. */
  planDrafts(): readonly DraftJob[] {
    const { running } = this.queue;
    const alone = running.every((sequence) => sequence.decoding);
    const [next = []] = alone ? this.turns.inOrder(running) : [];
    return this.speculation.planDrafts(next, (sequence) => this.forecast.remaining(sequence));
  }

  /** Takes in what the draft model has done. */
  applyDrafts(done: DraftsDone): void {
    this.speculation.applyDrafts(done, (key) => this.byKey.get(key));
  }

  /** Decides the next step, or undefined when there is nothing to compute. */
  plan(now: number): StepPlan | undefined {
    this.interlude.end(this.queue.streams);
    this.admit(now);
    const computable = this.queue.running.filter((sequence) => !sequence.mediaNext);
    for (const group of this.turns.inOrder(computable)) {
      const plan = this.planner.plan(group, now);
      if (plan) return plan;
    }
    return undefined;
  }

  /** The next slice of a chunk of prompts, when one is due: between two steps of the streams. */
  planSlice(now: number): SlicePlan | undefined {
    return this.planner.planSlice(now);
  }

  /** Takes in a slice. An abandoned one has left nothing of its chunk in the cache. */
  applySlice(result: SliceResult, ms: number): void {
    this.speculation.interrupted();
    const chunk = this.slices.apply(result, ms);
    if (chunk) this.results.apply(chunk.plan, [], chunk.ms, 0);
  }

  /** The next piece of a medium, when one is due: it is computed in a step of its own, between other steps. */
  planMedia(now: number): MediaStep | undefined {
    if (!this.queue.running.some(({ mediaNext }) => mediaNext)) return undefined;
    // Requests that are received while media are computed must be admitted too.
    this.admit(now);
    return this.media.plan(now);
  }

  /** Takes in a piece of a medium; unless it is `done`, the whole medium is computed again. */
  applyMedia(step: MediaStep, done: boolean, ms: number): void {
    this.interlude.spend(ms);
    this.speculation.interrupted();
    const sequence = this.byKey.get(step.key);
    if (sequence) this.media.apply(sequence, step, done);
  }

  /**
   * Takes in a finished step: `tokens` holds one token for each row with `sample`, in row order, and -1 behind a rejected
   * speculative token. The tokens of several steps follow each other, with -1 for steps that were not made.
   */
  apply(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    const adapters = this.keyOf(plan.adapters);
    this.turns.served(adapters);
    this.interlude.served(adapters);
    // Streams of other adapters wait for these prompts too: prompts are sized as if all streams were in the step.
    const streams = plan.prefillRows > 0 ? this.queue.streams.length : plan.decodeRows;
    const sampled =
      plan.steps > 1 ? this.results.applySteps(plan, tokens, ms) : this.results.apply(plan, tokens, ms, streams);
    for (const sequence of this.queue.running) if (sequence.isFull) this.shift(sequence);
    return sampled;
  }

  /** Tokens of a request that were dropped because its context was full. */
  droppedTokens(key: Key): number {
    return this.byKey.get(key)?.dropped ?? 0;
  }

  /**
   * The native cache refused a batch that should have fitted: preempts the newest background request, else the newest
   * request. False if only one runs.
   */
  preemptNewest(now: number): boolean {
    return this.queue.preemptNewest(now);
  }

  /** Drops older tokens; those behind them are computed again at their new positions, as a prompt is. */
  private shift(sequence: Sequence): void {
    this.speculation.release(sequence);
    sequence.shift();
    if (!this.limits.canTrim) sequence.computed = 0;
    this.kv.cut(sequence);
  }

  /** Milliseconds that text may be held. */
  get heldMs(): number {
    return multiStepMs(this.queue.streams.length, this.limits.stallBudgetMs);
  }

  /** Admits waiting requests while the streams leave capacity for them. */
  private admit(now: number): void {
    const { length: streams } = this.queue.streams;
    this.kv.host.beginStep(streams > 0 ? this.limits.stallBudgetMs : Number.POSITIVE_INFINITY);
    while (!this.kv.ensureFree(this.queue.streams.length, now) && this.preemptNewest(now));
    this.queue.admit(now);
  }
}
