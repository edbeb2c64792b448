// Continuous batching as bookkeeping: which tokens of which request go into the next decode call. Pure and
// synchronous: it never touches the model, a clock or a timer, so tests drive it step by step.
//
// Policy: every running stream decodes in every step. While streams decode, prompts are prefilled within a stall
// budget: between two steps, in slices of large chunks, if the device can pause a chunk; else within the steps, in
// chunks sized from measured costs. The shortest remaining work comes first, with ageing. A cached prefix is not
// computed again; a request waits for a prefix that another request is computing. Clients take turns by tokens served.
// A request is admitted when its tokens and some headroom fit the cache beside those of the running requests. If the
// cache fills up nevertheless, the newest request is preempted and resumed later, so that no request fails because of
// another's size. Background requests use idle capacity and are preempted as soon as others need it. A step has one set
// of LoRA adapters: requests of different sets take turns.

import { adapterKey, type AdapterSet } from "../domain/adapters.ts";
import type { SpeculationCounts } from "../domain/speculation.ts";
import type { Waiting } from "../domain/waiting.ts";
import { Forecast } from "./cost/forecast.ts";
import { StepCost } from "./cost/step-cost.ts";
import { KvCache } from "./kv/kv-cache.ts";
import type { SchedulerLimits } from "./limits.ts";
import { multiStepMs, type MediaStep, type Sampled, type SlicePlan, type StepPlan } from "./plan.ts";
import { RunQueue } from "./queue/run-queue.ts";
import { Sequence, type Key, type SequenceRequest } from "./sequence.ts";
import { Slots } from "./slots.ts";
import type { DraftJob, DraftsDone } from "./speculation/drafts.ts";
import { Speculation } from "./speculation/speculation.ts";
import { AdapterTurns } from "./step/adapter-turns.ts";
import { Interlude } from "./step/interlude.ts";
import { MediaSteps } from "./step/media-steps.ts";
import { byRemainingWork, PrefillBudget } from "./step/prefill.ts";
import { Slices, type SliceResult } from "./step/slices.ts";
import { StepPlanner } from "./step/step-planner.ts";
import { StepResults } from "./step/step-results.ts";
import { Tiles } from "./step/tiles.ts";

export class Scheduler {
  /** The KV cache, with the host cache and the disk cache below it: the engine reports to them directly. */
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
   * `keyOf` returns equal keys exactly for sets of adapters that compute the same; entries on disk carry this key too.
   * `preempted` is called with the key of each request that is preempted.
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
    const tiles = new Tiles(limits, kv, cost.tiles);
    this.slices = new Slices(limits.chunk, kv, cost, budget, interlude, tiles);
    this.queue = new RunQueue(limits, kv, cost, (sequence) => {
      if (sequence.preempted) preempted(sequence.key);
      this.slices.abandon(sequence);
      this.speculation.release(sequence);
    });
    this.planner = new StepPlanner(limits, this.queue, kv, cost, budget, this.slices, this.speculation, tiles);
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

  /** Tokens of waiting requests, without background requests. */
  get waitingTokens(): number {
    return this.queue.waiting.tokens;
  }

  /** Returns whether these tokens take longer than `ms` to compute; true until a prompt has been measured. */
  waitingExceeds(ms: number): boolean {
    return this.cost.prefillExceeds(this.waitingTokens, ms);
  }

  /** Returns how many requests wait, by what they wait for. */
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

  /**
   * Returns in how many milliseconds a running request is expected to end; undefined when none runs, when a sequence is
   * free and no request waits, or while answers have no limit and none has ended.
   */
  placeFreeMs(): number | undefined {
    const { running, waiting, isFull } = this.queue;
    if (running.length === 0 || (!isFull && waiting.size === 0)) return undefined;
    const ms = this.forecast.firstEndMs(running);
    return Number.isFinite(ms) ? ms : undefined;
  }

  /**
   * Returns in how many milliseconds, at the earliest, a new request is likely to have its first token: when a sequence
   * is free and the uncached part of its prompt is computed.
   */
  firstTokenMs(request: SequenceRequest, now: number): number {
    const { running } = this.queue;
    const sequence = new Sequence(request, now, this.keyOf);
    const waits = this.queue.waitsForEnd(sequence) && this.forecast.isInformed;
    const tokens = this.kv.reusable(sequence, now);
    const shared =
      this.limits.reuse && !sequence.fresh ? running.map((other) => other.sharedWith(sequence, sequence.length)) : [];
    const missing = sequence.length - Math.max(tokens, ...shared);
    return (waits ? this.forecast.firstEndMs(running) : 0) + this.forecast.promptMs(missing);
  }

  /** Queues a request at `now` (ms). Its prompt must not be empty, and prompt plus `maxTokens` must fit the cache. */
  add(request: SequenceRequest, now: number): void {
    const sequence = new Sequence(request, now, this.keyOf);
    this.byKey.set(request.key, sequence);
    this.queue.waiting.add(sequence);
  }

  /** Forgets a finished or cancelled request; what it computed may serve later requests. */
  remove(key: Key, now: number): void {
    const sequence = this.byKey.get(key);
    if (!sequence) return;
    this.byKey.delete(key);
    if (sequence.generated > 0) this.forecast.record(sequence.generated);
    this.slots.ended(sequence);
    this.queue.remove(sequence, now);
  }

  /**
   * Returns how many prompt tokens of a request are in the cache, how many were there when it was first admitted (0 until
   * then), and how many tokens were dropped because its context was full.
   */
  progress(key: Key): { readonly processed: number; readonly cached: number; readonly dropped: number } {
    const { computed = 0, cached = 0, promptLength = 0, dropped = 0 } = this.byKey.get(key) ?? {};
    // Some cached tokens may be computed again.
    return { processed: Math.min(Math.max(computed, cached), promptLength), cached, dropped };
  }

  /** Records that a sequence of the KV cache had to be cleared: its request, if any, is computed again in full. */
  cleared(sequenceId: number): void {
    const sequence = this.queue.running.find(({ id }) => id === sequenceId);
    if (!sequence) return this.kv.lost(sequenceId);
    this.slices.abandon(sequence);
    sequence.cached = 0;
    sequence.computed = 0;
    this.kv.noteCleared(sequence);
  }

  /** Plans the jobs of the draft model before the next step is planned; mostly none. */
  planDrafts(): readonly DraftJob[] {
    const { running } = this.queue;
    const alone = running.every((sequence) => sequence.decoding);
    const [next = []] = alone ? this.turns.inOrder(running) : [];
    return this.speculation.planDrafts(next, (sequence) => this.forecast.likelyLeft(sequence));
  }

  /** Applies the results of the draft model. */
  applyDrafts(done: DraftsDone): void {
    this.speculation.applyDrafts(done, (key) => this.byKey.get(key));
  }

  /** Plans the next step; returns undefined when there is nothing to compute. */
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

  /** Plans the next slice of a chunk of prompts, if one is due between two steps of the streams. */
  planSlice(now: number): SlicePlan | undefined {
    return this.planner.planSlice(now);
  }

  /** Applies the result of a slice. An abandoned slice leaves nothing of its chunk in the cache. */
  applySlice(result: SliceResult, ms: number): void {
    this.speculation.interrupted();
    const chunk = this.slices.apply(result, ms);
    if (chunk) this.results.apply(chunk.plan, [], chunk.ms, { streams: 0, prompts: chunk.plan.prefillRows });
  }

  /** Plans the next piece of an image or sound, if one is due, as a separate step between other steps. */
  planMedia(now: number): MediaStep | undefined {
    if (!this.queue.running.some(({ mediaNext }) => mediaNext)) return undefined;
    // Requests received while media are computed must be admitted too.
    this.admit(now);
    return this.media.plan(now);
  }

  /** Applies the result of a piece of an image or sound; unless `done`, all of that medium is computed again. */
  applyMedia(step: MediaStep, done: boolean, ms: number): void {
    this.interlude.spend(ms);
    this.speculation.interrupted();
    const sequence = this.byKey.get(step.key);
    if (sequence) this.media.apply(sequence, step, done);
  }

  /**
   * Applies a finished step. `tokens` holds one token for each row with `sample`, in row order, and -1 after a rejected
   * speculative token. The tokens of several steps follow each other, with -1 for steps that were not made.
   */
  apply(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    const adapters = this.keyOf(plan.adapters);
    this.turns.served(adapters);
    // Where prompts have steps of their own, the turn of the streams is still to come.
    const isTurn = this.limits.tile === 0 || plan.decodeRows > 0 || this.queue.streams.length === 0;
    if (isTurn) this.interlude.served(adapters);
    const sampled =
      plan.steps > 1
        ? this.results.applySteps(plan, tokens, ms)
        : this.results.apply(plan, tokens, ms, this.pricedAs(plan));
    for (const sequence of this.queue.running) if (sequence.isFull) this.shift(sequence);
    return sampled;
  }

  /** Preempts a request after the native cache refused a batch that should have fitted; false if only one runs. */
  preemptOne(now: number): boolean {
    return this.queue.preemptOne(now, false);
  }

  /** Returns as how many rows of streams and of prompts the cost of a step is recorded. */
  private pricedAs({ decodeRows, prefillRows }: StepPlan): { readonly streams: number; readonly prompts: number } {
    // Where prompts have steps of their own, those beside streams have one row each, which costs as much as a stream's.
    if (this.limits.tile > 0 && decodeRows > 0) return { streams: decodeRows + prefillRows, prompts: 0 };
    if (this.limits.tile > 0 || prefillRows === 0) return { streams: decodeRows, prompts: prefillRows };
    // Streams of other adapters wait for these prompts too, so prompts are sized as if all streams were in the step.
    return { streams: this.queue.streams.length, prompts: prefillRows };
  }

  /** Drops older tokens; the tokens after them are computed again at their new positions, like a prompt. */
  private shift(sequence: Sequence): void {
    this.speculation.release(sequence);
    sequence.shift();
    if (!this.limits.canTrim) sequence.computed = 0;
    this.kv.cut(sequence);
  }

  /** How long text may be held before it is sent, in milliseconds. */
  get heldMs(): number {
    return multiStepMs(this.queue.streams.length, this.limits.stallBudgetMs);
  }

  /** Preempts requests until the next token of every stream fits, then admits waiting requests. */
  private admit(now: number): void {
    const { length: streams } = this.queue.streams;
    this.kv.host.beginStep(streams > 0 ? this.limits.stallBudgetMs : Number.POSITIVE_INFINITY);
    while (!this.kv.ensureFree(this.queue.streams.length, now) && this.queue.preemptOne(now, true));
    this.queue.admit(now);
    const untouched = this.queue.running.filter(({ started, computed }) => !started && computed === 0);
    this.kv.arrange(byRemainingWork(untouched, this.cost, now));
  }
}
