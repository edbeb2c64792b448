// Continuous batching as bookkeeping: which tokens of which request go into the next decode call. Pure and
// synchronous: it never touches the model, a clock or a timer, so tests drive it step by step.
//
// Policy: first come, first served. Every running stream decodes in every step; prompts are prefilled in chunks that are
// sized, from measured costs, to a stall budget while anyone decodes (or to a decode step, where that takes longer).
// Several requests that wait for their first token together buy longer steps, because small chunks would make all of
// them wait for far more than their prompts. A request is admitted when its tokens and a little headroom fit the KV
// cache; when the cache fills up all the same, the newest request gives its room back and is computed again later, so
// that no request fails because of another's size.

import { Sequence, type Key, type MediaSpan, type SequenceRequest } from "./sequence.ts";
import { StepCost } from "./step-cost.ts";

export interface SchedulerLimits {
  /** Sequences that may run at once. */
  readonly parallel: number;
  /** KV cells shared by all sequences. */
  readonly cells: number;
  /** Most rows in one decode call. */
  readonly batch: number;
  /** Longest pause of running streams for other requests' prompts, in milliseconds. */
  readonly stallBudgetMs: number;
}

/** Cells kept free for the growth of each running request when the next one is admitted. */
const HEADROOM = 32;
/** A chunk smaller than this costs nearly as much as one of this size. */
const SMALLEST_CHUNK = 16;
/** Prefill step while nobody decodes: bounds how long new requests go unnoticed. */
const QUIET_STEP_MS = 250;
/** What each of several requests that wait for their first token adds to a step, and the longest such step. */
const CROWD_SHARE_MS = 200;
const CROWD_STEP_MS = 1500;
/** The same while nobody decodes: only newcomers wait for it to end, and together prompts start and end in step. */
const QUIET_CROWD_STEP_MS = 4000;
/** Prefill reaches its full rate at about this size; smaller steps would waste the weights that they read. */
const EFFICIENT_CHUNK = 128;
/** One row of a decode batch. */
export interface PlanRow {
  readonly key: Key;
  readonly sequence: number;
  readonly token: number;
  /** Of the token among the request's. */
  readonly index: number;
  /** Of the token in the KV cache. */
  readonly position: number;
  /** The row's logits are wanted: its sampled token goes to `apply`. */
  readonly sample: boolean;
}

export interface StepPlan {
  /** Sorted by sequence id, as the stream KV layout wants them. */
  readonly rows: readonly PlanRow[];
  /** Requests whose first rows are in this plan. */
  readonly started: readonly Key[];
  /** The request that fills the batch alone, if one does: its cancellation may abort the step. */
  readonly owner: Key | undefined;
  readonly decodeRows: number;
  readonly prefillRows: number;
}

/** Makes the first `length` positions of one sequence the beginning of another. */
export interface SequenceCopy {
  readonly from: number;
  readonly to: number;
  readonly length: number;
}

/** One piece of a medium, for a decode call of its own. */
export interface MediaStep {
  readonly key: Key;
  readonly sequence: number;
  readonly span: MediaSpan;
  /** Embeddings of the span, from `offset` on. */
  readonly offset: number;
  readonly count: number;
  /** Position of the span's first token. */
  readonly position: number;
  /** Nothing of this request was computed before. */
  readonly starts: boolean;
}

export interface Sampled {
  readonly key: Key;
  readonly token: number;
  /** The request's token limit is reached: this token is its last. */
  readonly last: boolean;
}

export class Scheduler {
  private readonly waiting: Sequence[] = [];
  /** In order of admission: the last one is the newest. */
  private readonly running: Sequence[] = [];
  private readonly byKey = new Map<Key, Sequence>();
  private readonly freeIds: boolean[];
  private released: number[] = [];
  private copies: SequenceCopy[] = [];
  private readonly cost = new StepCost();
  private preemptionCount = 0;
  /** The last step was a medium's. */
  private mediaBefore = false;
  /** Requests that wait for their first token together, until the last of them has it. */
  private crowd = 0;

  constructor(private readonly limits: SchedulerLimits) {
    this.freeIds = Array.from({ length: limits.parallel }, () => true);
  }

  get runningCount(): number {
    return this.running.length;
  }

  get waitingCount(): number {
    return this.waiting.length;
  }

  get preemptions(): number {
    return this.preemptionCount;
  }

  /** KV cells that hold tokens of running requests. */
  get cellsUsed(): number {
    return this.running.reduce((sum, sequence) => sum + sequence.computed, 0);
  }

  get hasWork(): boolean {
    return this.byKey.size > 0;
  }

  /** Queues a request. Its prompt must not be empty and prompt plus `maxTokens` must fit the cache. */
  add(request: SequenceRequest): void {
    const sequence = new Sequence(request);
    this.byKey.set(request.key, sequence);
    this.waiting.push(sequence);
  }

  /** Forgets a request, finished or cancelled; its cells are free from the next plan on. */
  remove(key: Key): void {
    const sequence = this.byKey.get(key);
    if (!sequence) return;
    this.byKey.delete(key);
    const queued = this.waiting.indexOf(sequence);
    if (queued >= 0) this.waiting.splice(queued, 1);
    else this.stopRunning(sequence);
  }

  /** Prompt tokens of a request that were not computed for it. */
  sharedTokens(key: Key): number {
    return this.byKey.get(key)?.shared ?? 0;
  }

  /** Sequences to copy after the clearing and before the next decode call; each is reported once. */
  takeCopies(): readonly SequenceCopy[] {
    const copies = this.copies;
    if (copies.length > 0) this.copies = [];
    return copies;
  }

  /** Sequence ids whose KV cells must be cleared before the next decode call; each is reported once. */
  takeReleased(): readonly number[] {
    const ids = this.released;
    if (ids.length > 0) this.released = [];
    return ids;
  }

  /** Decides the next step, or undefined when there is nothing to compute. */
  plan(): StepPlan | undefined {
    this.makeRoomForDecoding();
    this.admit();
    const decoding = this.running.filter((sequence) => sequence.decoding);
    const rows = decoding.map((sequence) => this.row(sequence, sequence.computed));
    const started: Key[] = [];
    const prefillRows = this.addPrefill(rows, decoding.length, started);
    if (rows.length === 0) return undefined;
    rows.sort((a, b) => a.sequence - b.sequence || a.position - b.position);
    const first = rows[0]?.key;
    const owner = rows.every((row) => row.key === first) ? first : undefined;
    return { rows, started, owner, decodeRows: decoding.length, prefillRows };
  }

  /** The next piece of a medium, when one is due: it is computed in a step of its own, between others' steps. */
  planMedia(): MediaStep | undefined {
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
      this.mediaBefore = true;
      const position = sequence.position(span.start);
      const step = { key: sequence.key, sequence: sequence.id, span, offset, count, position };
      const starts = !sequence.started;
      sequence.started = true;
      return { ...step, starts };
    }
    return undefined;
  }

  /** A piece of a medium is in the cache; or it is not, and the whole medium is to be computed again. */
  applyMedia({ key, span, count }: MediaStep, done: boolean): void {
    const sequence = this.byKey.get(key);
    if (sequence) sequence.computed = done ? sequence.computed + count : span.start;
  }

  /** Takes in a finished step: `tokens` holds one token for each row with `sample`, in row order. */
  apply(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    this.cost.record(plan.decodeRows, plan.prefillRows, ms);
    const sampled: Sampled[] = [];
    for (const row of plan.rows) {
      const sequence = this.byKey.get(row.key);
      if (sequence) sequence.computed = row.index + 1;
      if (!row.sample) continue;
      const token = tokens[sampled.length] as number;
      sequence?.append(token);
      sampled.push({ key: row.key, token, last: sequence !== undefined && sequence.generated >= sequence.maxTokens });
    }
    return sampled;
  }

  /** The cache refused a batch that should have fitted: gives back the newest request's room. False if it is alone. */
  preemptNewest(): boolean {
    const newest = this.running.at(-1);
    if (!newest || this.running.length === 1) return false;
    this.stopRunning(newest);
    newest.computed = 0;
    this.waiting.unshift(newest);
    this.preemptionCount++;
    return true;
  }

  private makeRoomForDecoding(): void {
    const growth = () => this.running.filter((sequence) => sequence.decoding).length;
    while (this.cellsUsed + growth() > this.limits.cells && this.preemptNewest());
  }

  private admit(): void {
    let reserved = this.running.reduce((sum, sequence) => sum + this.reservation(sequence), 0);
    for (let index = 0; index < this.waiting.length; index++) {
      const next = this.waiting[index] as Sequence;
      const leader = next.leader === undefined ? undefined : this.byKey.get(next.leader);
      // Its prompt will be there soon, for nothing; whoever is behind need not wait for that.
      if (leader && leader.computed < next.promptLength - 1) continue;
      const need = this.reservation(next);
      const id = this.freeIds.indexOf(true);
      if (id < 0 || (this.running.length > 0 && reserved + need > this.limits.cells)) return;
      this.waiting.splice(index--, 1);
      this.freeIds[id] = false;
      next.id = id;
      this.running.push(next);
      if (leader) this.share(leader, next);
      reserved += need;
    }
  }

  /** All but the last prompt token, whose logits each request needs for itself. */
  private share(leader: Sequence, follower: Sequence): void {
    const length = follower.promptLength - 1;
    if (length < 1) return;
    this.copies.push({ from: leader.id, to: follower.id, length: follower.position(length) });
    follower.computed = follower.shared = length;
  }

  private reservation(sequence: Sequence): number {
    const remaining = sequence.maxTokens - sequence.generated;
    return sequence.length + Math.min(remaining, HEADROOM);
  }

  private addPrefill(rows: PlanRow[], decodeRows: number, started: Key[]): number {
    const prefilling = this.running.filter((sequence) => !sequence.decoding && !sequence.mediaNext);
    let budget = this.prefillBudget(decodeRows, prefilling);
    budget = Math.min(budget, this.limits.batch - rows.length, this.limits.cells - this.cellsUsed - decodeRows);
    let added = 0;
    for (const sequence of prefilling) {
      // A piece of a prompt beside whole ones would be one more pass over the weights in the stream KV layout.
      if (added > 0 && sequence.textEnd - sequence.computed > budget - added) break;
      const end = Math.min(sequence.textEnd, sequence.computed + budget - added);
      if (!sequence.started && end > sequence.computed) {
        sequence.started = true;
        started.push(sequence.key);
      }
      for (let index = sequence.computed; index < end; index++, added++) rows.push(this.row(sequence, index));
      if (added >= budget) break;
    }
    return added;
  }

  /** Prompt tokens that the next step may hold, when `prefilling` are the requests that still need some. */
  private prefillBudget(decodeRows: number, prefilling: readonly Sequence[]): number {
    if (prefilling.length === 0) return (this.crowd = 0);
    const { stallBudgetMs, batch } = this.limits;
    const left = prefilling.reduce((sum, sequence) => sum + sequence.length - sequence.computed, 0);
    // The last of a crowd are not cut into the small chunks of a single newcomer.
    this.crowd = Math.max(left <= batch ? this.crowd : 0, prefilling.length);
    const several = this.crowd > 1;
    if (decodeRows === 0) {
      const ms = several ? QUIET_CROWD_STEP_MS : QUIET_STEP_MS;
      return Math.max(EFFICIENT_CHUNK, this.cost.tokensWithin(ms, false, batch));
    }
    const crowd = several ? Math.min(CROWD_SHARE_MS * this.crowd, CROWD_STEP_MS) : 0;
    const patience = Math.max(stallBudgetMs, this.cost.decodeStepMs(decodeRows));
    return Math.max(SMALLEST_CHUNK, this.cost.tokensWithin(Math.max(patience, crowd), true, SMALLEST_CHUNK));
  }

  private row(sequence: Sequence, index: number): PlanRow {
    return {
      key: sequence.key,
      sequence: sequence.id,
      token: sequence.token(index),
      index,
      position: sequence.position(index),
      sample: index === sequence.length - 1,
    };
  }

  private stopRunning(sequence: Sequence): void {
    this.running.splice(this.running.indexOf(sequence), 1);
    this.freeIds[sequence.id] = true;
    this.released.push(sequence.id);
    sequence.id = -1;
  }
}
