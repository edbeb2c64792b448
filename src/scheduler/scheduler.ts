// Continuous batching as bookkeeping: which tokens of which request go into the next decode call. Pure and
// synchronous: it never touches the model, a clock or a timer, so tests drive it step by step.
//
// Policy: every running stream decodes in every step. While anyone decodes, prompts are prefilled within a stall budget:
// between two steps, in slices of large chunks, where a chunk can be paused; else in the steps, in chunks that are sized
// from measured costs. The shortest remaining work comes first, with ageing. What a prompt shares
// with anything in the KV cache is not computed; what it shares with a prompt that is being computed, it waits for.
// Clients take turns by tokens served. A request is admitted when its tokens and a little headroom fit the cache beside
// those of the running ones; when the cache fills up all the same, the newest request gives its room back and is
// computed again later, so that no request fails because of another's size. A step has one set of LoRA adapters: requests
// of different sets take turns.

import { adapterKey, type AdapterSet } from "../domain/adapters.ts";
import type { GuessTally } from "../domain/guesses.ts";
import { nobodyWaits, type Waiting, type WaitReason } from "../domain/waiting.ts";
import { AdapterTurns } from "./adapter-turns.ts";
import { DiskLoads } from "./disk-loads.ts";
import type { DraftJob } from "./drafts.ts";
import { FairQueue } from "./fair-queue.ts";
import { Forecast } from "./forecast.ts";
import { KvCache, type KvLimits } from "./kv-cache.ts";
import type { KvCommand } from "./kv-command.ts";
import type { SavedId } from "./saved-prefixes.ts";
import {
  byPlace,
  ownerOf,
  rowOf,
  stepsMade,
  type MediaStep,
  type PlanRow,
  type Sampled,
  type SlicePlan,
  type StepPlan,
} from "./plan.ts";
import { byRemainingWork, PrefillBudget, promptRows, type PrefillLimits } from "./prefill.ts";
import { Sequence, type Key, type SequenceRequest } from "./sequence.ts";
import { Slices } from "./slices.ts";
import { Speculation, type SpeculationLimits } from "./speculation.ts";
import { StepCost } from "./step-cost.ts";
import type { Stored, StoredId } from "./stored-prefixes.ts";

export interface SchedulerLimits extends PrefillLimits, KvLimits, SpeculationLimits {
  /** Requests that may run at once. */
  readonly parallel: number;
  /** Most rows of a chunk whose computation can be paused for a step; 0 where none can. */
  readonly chunk: number;
}

/** Cells kept free for the growth of each running request when the next one is admitted. */
const HEADROOM = 32;
/** A request waits for a prompt that is being computed when it saves at least so many tokens by that. */
const WORTH_WAITING = 32;
/**
 * Decode steps on end take so long together, those of all sets of adapters: nobody sees a stream halt for it, and messages
 * are sent once for all.
 */
const MULTI_STEP_MS = 10;
/** A request that makes room for another client's has run for at least so long. */
const SHORTEST_TURN_MS = 250;

export class Scheduler {
  private readonly queue = new FairQueue();
  /** In order of admission: the last one is the newest. */
  private readonly running: Sequence[] = [];
  private readonly byKey = new Map<Key, Sequence>();
  private readonly kv: KvCache;
  private readonly loads: DiskLoads;
  private readonly cost = new StepCost();
  private readonly budget: PrefillBudget;
  private readonly forecast: Forecast;
  private readonly turns = new AdapterTurns();
  private preemptionCount = 0;
  private readonly speculation: Speculation;
  /** The last step was a medium's. */
  private mediaBefore = false;
  private readonly slices: Slices;

  /** `keyOf`: the same for sets of adapters that compute the same, and for no others; what is on disk has it too. */
  constructor(
    private readonly limits: SchedulerLimits,
    private readonly keyOf: (adapters: AdapterSet) => string = adapterKey,
  ) {
    this.kv = new KvCache(limits);
    this.loads = new DiskLoads(limits, this.kv);
    this.budget = new PrefillBudget(limits, this.cost);
    this.speculation = new Speculation(limits, this.kv);
    this.slices = new Slices(limits.chunk, this.kv, this.cost, this.budget);
    this.forecast = new Forecast(this.cost, limits.stallBudgetMs);
  }

  get runningCount(): number {
    return this.running.length;
  }

  get waitingCount(): number {
    return this.queue.size;
  }

  /** Those that wait, by what for. */
  waiting(now: number): Waiting {
    if (this.queue.size === 0) return nobodyWaits;
    const order = this.queue.inOrder();
    const next = order.find((sequence) => !awaitsPrefix(sequence));
    const isFull = this.running.length >= this.limits.parallel;
    const missing = isFull ? "sequence" : next && this.fits(next, now) ? "step" : "cells";
    const count = { ...nobodyWaits } as Record<WaitReason, number>;
    for (const sequence of order) {
      if (awaitsPrefix(sequence)) count.prefix++;
      else count[next && sequence.client !== next.client && sequence.key < next.key ? "turn" : missing]++;
    }
    return count;
  }

  /** Tokens of the requests that wait. */
  get waitingTokens(): number {
    return this.queue.tokens;
  }

  get preemptions(): number {
    return this.preemptionCount;
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
    if (this.running.length === 0 || (this.running.length < this.limits.parallel && this.queue.size === 0))
      return undefined;
    return this.forecast.firstEndMs(this.running);
  }

  /**
   * When a request that comes now is likely to have its first token, in milliseconds from now and at the earliest: as soon as
   * a sequence is free and what nobody has computed of its prompt is computed.
   */
  firstTokenMs(request: SequenceRequest, now: number): number {
    const sequence = new Sequence(request, now, this.keyOf);
    const isFull = this.running.length >= this.limits.parallel;
    // In time, any of another client's that has more than its share makes room.
    const waits = isFull && !this.victimFor(sequence, Number.POSITIVE_INFINITY) && this.forecast.isInformed;
    const { tokens } = this.kv.reusable(sequence, now, this.cost.prefillTokenMs);
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
    if (!this.queue.take(sequence)) this.stop(sequence, now, true);
    this.queue.forget(sequence);
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

  /** What was to be read from disk is in host memory now; or it could not be read. */
  loaded(saved: SavedId, done: boolean): void {
    this.kv.spill.loaded(saved, done);
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
    const busy = this.streams > 0;
    this.kv.spill.patienceMs = busy ? this.limits.stallBudgetMs : Number.POSITIVE_INFINITY;
    this.makeRoomForDecoding(now);
    this.admit(now);
    const computable = this.running.filter((sequence) => !sequence.mediaNext);
    for (const group of this.turns.inOrder(computable)) {
      const plan = this.planFor(group, now);
      if (plan) return plan;
    }
    return undefined;
  }

  /** A step of sequences that have their adapters in common; undefined when there is no room for any of their tokens. */
  private planFor(group: readonly Sequence[], now: number): StepPlan | undefined {
    const decoding = group.filter((sequence) => sequence.decoding);
    const rows = decoding.map((sequence) => rowOf(sequence, sequence.computed));
    const started: Key[] = [];
    const prefillRows = this.addPrefill(rows, this.inSteps(group), started, now);
    if (rows.length === 0) return undefined;
    const guessRows = prefillRows === 0 ? this.speculation.add(rows, decoding) : 0;
    if (prefillRows === 0) {
      this.kv.moveBeyond(this.cost.affordableCells(decoding.length, this.kv.runningCells), now);
    }
    const steps = prefillRows + guessRows === 0 && !this.speculation.drafting ? this.stepsOnEnd(decoding) : 1;
    if (!this.kv.makeRoom(rows.length * steps, now)) throw new Error("a plan that does not fit the KV cache");
    rows.sort(byPlace);
    const adapters = group[0]?.adapters ?? [];
    const owner = ownerOf(rows);
    return { rows, adapters, started, owner, decodeRows: decoding.length, prefillRows, guessRows, steps };
  }

  /** The next slice of a chunk of prompts, when one is due: between two steps of the streams. */
  planSlice(now: number): SlicePlan | undefined {
    const { streams } = this;
    return this.slices.plan(streams, prefilling(this.running), this.freeCells - streams, now);
  }

  /** Takes in a slice: its chunk is done, or there is more of it, or it was given up and has left nothing. */
  applySlice(result: "done" | "paused" | "given up", ms: number): void {
    const chunk = this.slices.apply(result, ms);
    if (chunk) this.applyStep(chunk.plan, [], chunk.ms, 0);
  }

  /** The next piece of a medium, when one is due: it is computed in a step of its own, between others' steps. */
  planMedia(now: number): MediaStep | undefined {
    const others = this.running.some((sequence) => sequence.decoding || !sequence.mediaNext);
    if (this.mediaBefore && others) {
      this.mediaBefore = false;
      return undefined;
    }
    for (const sequence of this.running) {
      const span = sequence.mediaNext;
      if (!span) continue;
      const offset = sequence.computed - span.start;
      const count = span.whole ? span.tokens : Math.min(span.tokens - offset, this.limits.batch);
      if (!this.kv.makeRoom(count, now)) continue;
      this.mediaBefore = true;
      const position = sequence.position(span.start);
      const step = { key: sequence.key, sequence: sequence.id, adapters: sequence.adapters, span, offset };
      const starts = !sequence.started;
      sequence.started = true;
      return { ...step, count, position, starts };
    }
    return undefined;
  }

  /** A piece of a medium is in the cache; or it is not, and the whole medium is to be computed again. */
  applyMedia({ key, span, count }: MediaStep, done: boolean): void {
    const sequence = this.byKey.get(key);
    if (!sequence) return;
    sequence.computed = done ? sequence.computed + count : span.start;
    if (done) this.kv.extend(sequence);
    else this.kv.shorten(sequence);
  }

  /**
   * Takes in a finished step: `tokens` holds one token for each row with `sample`, in row order, and -1 behind a wrong
   * guess. Those of several steps follow each other, -1 for steps that were not made.
   */
  apply(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    this.turns.served(this.keyOf(plan.adapters));
    if (plan.steps > 1) return this.applySteps(plan, tokens, ms);
    // Prompts that streams of other adapters wait for are sized as if those were in the step.
    return this.applyStep(plan, tokens, ms, plan.prefillRows > 0 ? this.streams : plan.decodeRows);
  }

  private applyStep(plan: StepPlan, tokens: ArrayLike<number>, ms: number, streams: number): Sampled[] {
    if (plan.guessRows === 0) this.cost.record(streams, plan.prefillRows, ms, this.kv.cells);
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
    if (plan.prefillRows === 0) this.speculation.judge(plan, (key) => this.byKey.get(key), ms);
    return sampled;
  }

  private applySteps(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    const { rows, decodeRows } = plan;
    const made = stepsMade(plan, tokens);
    this.cost.record(decodeRows, 0, ms / made, this.kv.cells);
    this.speculation.judge(plan, (key) => this.byKey.get(key), ms / made);
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

  /** The cache refused a batch that should have fitted: gives back the newest request's room. False if it is alone. */
  preemptNewest(now: number): boolean {
    const newest = this.running.at(-1);
    if (!newest || this.running.length === 1) return false;
    this.preempt(newest, now, false);
    return true;
  }

  /** Running requests that decode, with whatever adapters. */
  private get streams(): number {
    return this.running.filter((sequence) => sequence.decoding).length;
  }

  private makeRoomForDecoding(now: number): void {
    for (;;) {
      if (this.kv.makeRoom(this.streams, now) || !this.preemptNewest(now)) return;
    }
  }

  private admit(now: number): void {
    while (this.queue.size > 0) {
      const next = this.queue
        .inOrder()
        .find((sequence) => !this.waitsForLeader(sequence, now) && !this.waitsForDisk(sequence, now));
      if (!next) return;
      const isFull = this.running.length >= this.limits.parallel;
      const victim = isFull ? this.victimFor(next, now) : undefined;
      if ((isFull && !victim) || !this.fits(next, now)) return;
      if (victim) this.preempt(victim, now, true);
      this.queue.take(next);
      this.kv.acquire(next, now, this.cost.prefillTokenMs);
      next.cached ??= next.computed;
      next.admittedAt = now;
      this.queue.charge(next.client, next.remaining, 0);
      this.running.push(next);
    }
  }

  /** Somebody computes at this moment what this request begins with: with that it will have less to do. */
  private waitsForLeader(sequence: Sequence, now: number): boolean {
    if (!this.limits.reuse || !this.limits.cut) return false;
    if (awaitsPrefix(sequence)) return true;
    sequence.awaits = undefined;
    let length = this.kv.reusable(sequence, now, this.cost.prefillTokenMs).tokens + WORTH_WAITING;
    for (const leader of this.running) {
      if (leader.decoding) continue;
      const shared = leader.sharedWith(sequence, sequence.length - 1);
      if (shared < length || shared <= leader.computed) continue;
      sequence.awaits = { leader, length: shared };
      length = shared;
    }
    return sequence.awaits !== undefined;
  }

  /** Its beginning is being read from disk. A request that was computed once has what it needs nearer. */
  private waitsForDisk(sequence: Sequence, now: number): boolean {
    return sequence.cached === undefined && this.loads.awaitedBy(sequence, now, this.cost.prefillTokenMs);
  }

  /** Whether the cache has room for a request beside the running ones and their growth. */
  private fits(sequence: Sequence, now: number): boolean {
    if (this.limits.layout === "streams" || this.running.length === 0) return true;
    const pending = this.running.reduce((sum, other) => sum + needs(other), 0);
    const { cells } = this.kv.reusable(sequence, now, this.cost.prefillTokenMs);
    return this.kv.runningCells + pending + needs(sequence) - cells <= this.limits.cells;
  }

  /** A running request of a client with more than its share, which has had its turn. */
  private victimFor(sequence: Sequence, now: number): Sequence | undefined {
    const counts = new Map<string, number>();
    for (const { client } of this.running) counts.set(client, (counts.get(client) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (most < 2 || (counts.get(sequence.client) ?? 0) + 1 >= most) return undefined;
    return this.running.findLast(
      ({ client, admittedAt }) => counts.get(client) === most && now - admittedAt >= SHORTEST_TURN_MS,
    );
  }

  /** Prompts are computed in slices; the last token of each is sampled, and so in a step. */
  private get sliced(): boolean {
    return this.limits.chunk > 0 && this.streams > 0;
  }

  /** The prompts among sequences whose next tokens are computed in a step. */
  private inSteps(sequences: readonly Sequence[]): Sequence[] {
    const { sliced } = this;
    return prefilling(sequences).filter((prompt) => !this.slices.hold(prompt) && (!sliced || prompt.remaining === 1));
  }

  /** Cells that no running request has. */
  private get freeCells(): number {
    return this.limits.layout === "unified" ? this.limits.cells - this.kv.runningCells : Number.POSITIVE_INFINITY;
  }

  private addPrefill(rows: PlanRow[], prompts: readonly Sequence[], started: Key[], now: number): number {
    const { streams, sliced } = this;
    const tokens = sliced ? prompts.length : this.budget.tokens(streams, prompts);
    const budget = Math.min(tokens, this.limits.batch - rows.length, this.freeCells - streams);
    const added = promptRows(byRemainingWork(prompts, this.cost, now), budget, ({ textEnd }) => textEnd);
    rows.push(...added.rows);
    started.push(...added.started);
    return added.rows.length;
  }

  /** Decode steps that may be made without looking at what the first of them gave. */
  private stepsOnEnd(decoding: readonly Sequence[]): number {
    if (!decoding.every(({ multiStep }) => multiStep)) return 1;
    // Nor does a prompt of other adapters wait for them.
    if (this.inSteps(this.running).length > 0) return 1;
    const streams = this.running.filter((sequence) => sequence.decoding);
    const sets = new Set(streams.map((sequence) => sequence.adapterKey)).size;
    const steps = this.cost.decodeStepsWithin(MULTI_STEP_MS / sets, decoding.length);
    const left = Math.min(...decoding.map(({ maxTokens, generated }) => maxTokens - generated));
    const rows = this.limits.batch / decoding.length;
    const room = (this.limits.cells - this.kv.runningCells) / streams.length;
    return Math.max(1, Math.floor(Math.min(steps, left, rows, room)));
  }

  /** `keep`: its tokens may stay in the cache, so that little is to be computed again. */
  private preempt(sequence: Sequence, now: number, keep: boolean): void {
    this.stop(sequence, now, keep);
    sequence.computed = 0;
    this.queue.putBack(sequence);
    this.preemptionCount++;
  }

  private stop(sequence: Sequence, now: number, keep: boolean): void {
    this.slices.abandon(sequence);
    this.running.splice(this.running.indexOf(sequence), 1);
    this.speculation.release(sequence);
    this.kv.release(sequence, now, keep);
  }
}

/** Prompts whose next tokens are text. */
const prefilling = (sequences: readonly Sequence[]): Sequence[] =>
  sequences.filter((sequence) => !sequence.decoding && !sequence.mediaNext);

/** What it waits for is still being computed. */
const awaitsPrefix = ({ awaits }: Sequence): boolean =>
  awaits !== undefined && awaits.leader.running && awaits.leader.computed < awaits.length;

/** Cells that a request will take beyond those that it has. */
const needs = (sequence: Sequence): number =>
  sequence.remaining + Math.min(sequence.maxTokens - sequence.generated, HEADROOM);
