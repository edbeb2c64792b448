// Drives a scheduler as the engine would, with its own clock, and checks every plan against a model of the KV cache:
// before each row must be exactly its request's own tokens, computed with its own adapters, and no cell may be used
// twice.

import { adapterKey, type AdapterSet } from "../../src/domain/adapters.ts";
import type { KvCommand } from "../../src/scheduler/kv/kv-command.ts";
import type { MediaSpan } from "../../src/scheduler/media-span.ts";
import type { MediaStep, SlicePlan, StepPlan } from "../../src/scheduler/plan.ts";
import type { SchedulerLimits } from "../../src/scheduler/limits.ts";
import { Scheduler } from "../../src/scheduler/scheduler.ts";
import type { ContextShift, SequenceRequest } from "../../src/scheduler/sequence.ts";
import type { DraftJob } from "../../src/scheduler/speculation/drafts.ts";
import { checkTogether } from "./check-together.ts";
import { FakeDisk } from "./fake-disk.ts";

export const LIMITS: SchedulerLimits = {
  parallel: 4,
  layout: "unified",
  tile: 0,
  microBatch: 128,
  cells: 1024,
  region: Number.POSITIVE_INFINITY,
  sequences: 16,
  batch: 128,
  chunk: 0,
  stallBudgetMs: 50,
  reuse: true,
  canTrim: true,
  copyMs: 0,
  hostBytes: 0,
  tokenBytes: 1,
  offloadTokenMs: 0,
  draftMax: 0,
  draftAdaptive: true,
  hasDisk: false,
  readTokenMs: 0,
};

/** A cell of the cache; sequences that share a cell hold the same object. */
interface Cell {
  readonly token: number;
  /** Key of the adapter set that computed the cell. */
  readonly adapters: string;
}

/** Returns the duration of a step in milliseconds. */
export type Cost = (decodeRows: number, prefillRows: number, runningCells: number, cells: number) => number;

interface Job {
  readonly request: SequenceRequest;
  /** The tokens in the model's context. */
  readonly tokens: number[];
  readonly said: number[];
  readonly addedAt: number;
  readonly tokenAt: number[];
}

const fail = (message: string): never => {
  throw new Error(message);
};

/** When the context is full, drops the older half of the tokens after those to keep. */
export function makeRoom({ request: { shift }, tokens }: Pick<Job, "request" | "tokens">): void {
  if (!shift || tokens.length < shift.room) return;
  const keep = Math.min(shift.keep, shift.room - 4);
  tokens.splice(keep, Math.floor((tokens.length - keep) / 2));
}

interface AddOptions {
  readonly speculate?: boolean;
  readonly background?: boolean;
  readonly adapters?: AdapterSet;
  readonly media?: readonly MediaSpan[];
  readonly fresh?: boolean;
  readonly scored?: boolean;
  readonly slot?: number;
  readonly shift?: ContextShift;
}

export class FakeEngine {
  readonly scheduler: Scheduler;
  readonly plans: StepPlan[] = [];
  now = 0;
  /** How often memory after the end of a sequence was given back. */
  givenBack = 0;
  /** Prompt rows computed so far. */
  prefilled = 0;
  readonly jobs = new Map<number, Job>();
  /** For each finished request, the tokens that were cached when it was admitted. */
  readonly cached = new Map<number, number>();
  private readonly cache = new Map<number, Cell[]>();
  /** The chunk that is being computed in slices, and its remaining milliseconds. */
  private chunk: { readonly plan: StepPlan; ms: number } | undefined;
  /** Duration of each computed slice, in milliseconds. */
  readonly slices: number[] = [];
  /** Pieces of media that were computed. */
  readonly pieces: MediaStep[] = [];
  /** Milliseconds between two points where a chunk can be paused; 0: anywhere. */
  pieceMs = 0;
  /** Bytes of each offloaded part in addition to its tokens. */
  stateBytes = 0;
  /** Whether offloaded sequences cannot be restored. */
  failsRestores = false;
  /** Tokens of each offloaded part. */
  readonly offloadSizes: number[] = [0];
  /** The cells of the host cache. */
  readonly hostEntries = new Map<number, Cell[]>();
  /** Whether requests allow multi-step decoding. */
  multiStep = false;
  /** Whether plans are kept in `plans`. */
  keepPlans = true;
  /** Whether the whole context of every sampled row is compared. */
  exact = true;
  /** Milliseconds of the draft model for each token that it writes, and for each that it is fed to catch up. */
  draftMs = 0;
  feedMs = 0;
  /** How many cells the draft model's cache has. */
  draftCells = Number.POSITIVE_INFINITY;
  /** Calls of the draft model, tokens that it was fed to catch up, and the most of them at once. */
  drafts = 0;
  fed = 0;
  largestFeed = 0;
  /** Sequences that could not be restored. */
  private readonly lost = new Set<number>();
  private readonly draftCache = new Map<number, number[]>();
  /** The requests that were preempted, in order. */
  readonly preempted: number[] = [];
  /** Called when a request has its last token. */
  onFinish: (key: number) => void = () => {};

  constructor(
    private readonly limits: SchedulerLimits = LIMITS,
    private readonly cost: Cost = (decodeRows, prefillRows) => decodeRows + prefillRows,
    /** Files that earlier engines left. */
    readonly disk = new FakeDisk(),
    /** Hashes of the adapters by their numbers. */
    private readonly hashes: readonly string[] = [],
  ) {
    this.scheduler = new Scheduler(
      limits,
      (adapters) => this.keyOf(adapters),
      (key) => this.preempted.push(key),
    );
    disk.open(this.scheduler);
  }

  /** Adds a request with this prompt, or with this many tokens that no other request has. */
  add(
    key: number,
    prompt: number | readonly number[],
    maxTokens: number,
    client = "",
    { speculate = false, background = false, adapters = [], media = [], ...marks }: AddOptions = {},
  ): void {
    const tokens =
      typeof prompt === "number" ? Array.from({ length: prompt }, (_, at) => key * 10_000 + at) : [...prompt];
    const { multiStep } = this;
    const base = { key, prompt: Int32Array.from(tokens), maxTokens, client, background };
    const request = { ...base, speculate, multiStep, adapters, media, ...marks };
    this.jobs.set(key, { request, tokens, said: [], addedAt: this.now, tokenAt: [] });
    this.scheduler.add(request, this.now);
  }

  /** Returns the longest time between two tokens of a request. */
  longestGap(key: number): number {
    const times = this.jobs.get(key)?.tokenAt ?? [];
    return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  }

  remove(key: number): void {
    this.cached.set(key, this.scheduler.progress(key).cached);
    this.scheduler.remove(key, this.now);
  }

  /** Disconnects a client, unless its request has finished. */
  disconnect(key: number): void {
    if (!this.cached.has(key)) this.remove(key);
  }

  /** Returns the output of a request so far. */
  output(key: number): number[] {
    return this.jobs.get(key)?.said ?? [];
  }

  /** Returns the next token: predictable, and dependent on all tokens before it. */
  next = (tokens: readonly number[]): number => ((tokens.at(-1) ?? 0) * 31 + tokens.length * 7) % 1_000_003;

  /** Returns the draft model's next token, which is right unless a test changes this function. */
  drafted = (tokens: readonly number[]): number => this.next(tokens);

  /**
   * Computes one step and returns it: the whole chunk for a slice, a plan without rows for media, undefined when
   * there is nothing to do.
   */
  step(): StepPlan | undefined {
    this.receive();
    this.draft();
    const piece = this.scheduler.planMedia(this.now);
    if (piece) return this.prepare() ? this.computeMedia(piece) : this.step();
    const slice = this.scheduler.planSlice(this.now);
    if (slice) return this.prepare() ? this.compute(slice) : this.step();
    const plan = this.scheduler.plan(this.now);
    if (!this.prepare()) return this.step();
    if (!plan) return this.disk.isReading ? this.step() : undefined;
    this.place(plan);
    const sampled = this.sample(plan);
    const steps = sampled.length / Math.max(1, plan.rows.filter(({ sample }) => sample).length) || 1;
    const ms = steps * this.costOf(plan);
    this.now += ms;
    for (const { key, token, last } of this.scheduler.apply(plan, sampled, ms)) {
      const job = this.job(key);
      job.tokens.push(token);
      job.said.push(token);
      job.tokenAt.push(this.now);
      if (!last) {
        makeRoom(job);
        continue;
      }
      this.remove(key);
      this.onFinish(key);
    }
    return plan;
  }

  run(limit = 10_000): void {
    for (let steps = 0; this.step(); steps++) if (steps > limit) fail("the scheduler does not finish");
  }

  /** Returns the rows that were computed for a request. */
  rowsOf(key: number) {
    return this.plans.flatMap((plan) => plan.rows.filter((row) => row.key === key));
  }

  /** How many cells are in use. */
  get cells(): number {
    return new Set([...this.cache.values()].flat()).size;
  }

  private draft(): void {
    const jobs = this.scheduler.planDrafts();
    if (jobs.length === 0) return;
    this.drafts++;
    const written = jobs.map((job) => this.draftFor(job));
    const catchingUp = jobs.reduce((sum, { tokens, count }) => sum + (count === 0 ? tokens.length : 0), 0);
    const rounds = Math.max(...written.map(({ length }) => length));
    const ms = rounds * this.draftMs + catchingUp * this.feedMs;
    this.now += ms;
    this.fed += catchingUp;
    this.largestFeed = Math.max(this.largestFeed, catchingUp);
    const isFull = [...this.draftCache.values()].flat().length > this.draftCells;
    if (isFull) for (const { sequence } of jobs) this.draftCache.delete(sequence);
    this.scheduler.applyDrafts({ jobs, ...(!isFull && { tokens: written }), rounds: Math.max(1, rounds), ms });
  }

  private draftFor({ key, sequence, position, tokens, count }: DraftJob): Int32Array {
    const held = [...(this.draftCache.get(sequence) ?? []).slice(0, position), ...tokens];
    if (held.length !== position + tokens.length) fail(`draft sequence ${sequence} has a hole`);
    this.draftCache.set(sequence, held);
    if (key === undefined) return new Int32Array(0);
    const known = this.job(key).tokens;
    if (held.some((token, at) => token !== known[at])) fail(`request ${key} is drafted for from another's tokens`);
    if (count > 0 && held.length !== known.length) fail(`request ${key} is drafted for before its end`);
    return Int32Array.from({ length: count }, (_, at) => {
      const token = this.drafted(held);
      // The last token is sampled but not computed.
      if (at < count - 1) held.push(token);
      return token;
    });
  }

  private keyOf(adapters: AdapterSet): string {
    return adapterKey(adapters, this.hashes);
  }

  private job(key: number): Job {
    return this.jobs.get(key) ?? fail(`a row of request ${key}, which is not there`);
  }

  /** Returns one token for each sampled row; -1 after a rejected speculative token. */
  private sample(plan: StepPlan): number[] {
    const sampled: number[] = [];
    let said: number[] = [];
    for (const { key, token, sample, speculative } of plan.rows) {
      if (!sample) continue;
      const rejected = speculative && said.at(-1) !== token;
      if (!speculative) said = [...this.job(key).tokens];
      if (!rejected) said.push(this.next(said));
      else said.push(-1);
      sampled.push(said.at(-1) ?? -1);
    }
    const adapters = this.keyOf(plan.adapters);
    for (let step = 1; step < plan.steps; step++) {
      for (const { key, sequence, position } of plan.rows) {
        const before = sampled.filter((_, at) => plan.rows[at % plan.rows.length]?.key === key);
        this.fill(sequence, { token: before.at(-1) ?? -1, adapters }, position + step);
        sampled.push(this.next([...this.job(key).tokens, ...before]));
      }
    }
    if (this.exact) this.checkCapacity();
    return sampled;
  }

  /** Carries out the cache commands. Returns false when a sequence could not be restored, which makes the plan void. */
  private prepare(): boolean {
    let complete = true;
    for (const command of this.scheduler.kv.takeCommands()) complete = this.carryOut(command) && complete;
    for (const sequence of this.lost) this.scheduler.cleared(sequence);
    this.lost.clear();
    return complete;
  }

  private carryOut(command: KvCommand): boolean {
    switch (command.type) {
      case "drop":
        this.hostEntries.delete(command.hostId);
        return true;
      case "offload": {
        const { sequence, hostId, from, to } = command;
        const part = (this.cache.get(sequence) ?? []).slice(from, to < 0 ? undefined : to);
        this.hostEntries.set(hostId, [...(this.hostEntries.get(hostId) ?? []), ...part]);
        this.offloadSizes.push(part.length);
        this.scheduler.kv.host.wrote(hostId, this.bytesOf(part.length), this.now);
        return true;
      }
      case "restore": {
        const { sequence, hostId } = command;
        const entry = this.hostEntries.get(hostId) ?? fail("what is to be restored was not offloaded");
        const cells = this.failsRestores ? [] : entry.map((cell) => ({ ...cell }));
        this.cache.set(sequence, cells);
        if (this.failsRestores) {
          this.scheduler.kv.host.restoreFailed(hostId);
          this.lost.add(sequence);
        } else if (this.exact) this.checkCapacity();
        return !this.failsRestores;
      }
      case "trim": {
        const { sequence, position, cells } = command;
        this.givenBack += Number(cells !== undefined);
        const held = this.cache.get(sequence) ?? [];
        this.cache.set(sequence, held.slice(0, position));
        const others = new Set([...this.cache.values()].flat());
        if (this.limits.layout === "paged" && position > 0 && cells === undefined)
          if (held.slice(position).some((cell) => others.has(cell))) fail("shared cells that are not given back");
        return true;
      }
      case "move": {
        const { from, to } = command;
        this.cache.set(to, this.cache.get(from) ?? []);
        this.cache.delete(from);
        if (this.lost.delete(from)) this.lost.add(to);
        return true;
      }
      case "abandon":
        this.chunk = undefined;
        return true;
      case "copy": {
        const { from, to, position } = command;
        const source = this.cache.get(from) ?? [];
        if (source.length < position) fail(`a copy of ${position} tokens out of ${source.length}`);
        const kept = source.slice(0, position);
        if (command.cells !== position) fail(`a copy of ${position} tokens in ${command.cells} cells`);
        this.cache.set(to, this.limits.layout !== "streams" ? kept : kept.map((cell) => ({ ...cell })));
        return true;
      }
      case "write": {
        const cells = this.hostEntries.get(command.hostId) ?? fail("what is to be written was not offloaded");
        this.hostEntries.delete(command.hostId);
        if (cells.some(({ token, adapters }, at) => token !== command.ids[at] || adapters !== command.adapterKey))
          fail("what is written is not what the command says");
        this.disk.write(command, this.scheduler);
        return true;
      }
      case "read":
        this.disk.read(command.diskId, command.hostId);
        return true;
      case "delete":
        this.disk.delete(command.diskId);
        return true;
    }
  }

  /** Takes in finished reads from the disk. */
  private receive(): void {
    for (const { hostId, file } of this.disk.arrive()) {
      if (file)
        this.hostEntries.set(
          hostId,
          Array.from(file.ids, (token) => ({ token, adapters: file.adapterKey })),
        );
      this.scheduler.kv.host.readEnded(hostId, file && this.bytesOf(file.ids.length), this.now);
    }
  }

  private bytesOf(tokens: number): number {
    return tokens * this.limits.tokenBytes + this.stateBytes;
  }

  /** Shuts down in order, which writes the caches to disk. */
  end(): void {
    for (const key of this.jobs.keys()) this.disconnect(key);
    while (this.scheduler.kv.writeNext(this.now)) this.prepare();
    this.prepare();
  }

  private costOf({ decodeRows, prefillRows }: StepPlan): number {
    return this.cost(decodeRows, prefillRows, this.scheduler.kv.runningCells, this.scheduler.kv.cells);
  }

  /** Computes a slice of a chunk; its tokens are in the cache once the whole chunk is computed. */
  private compute({ chunk: plan, begins, ms }: SlicePlan): StepPlan {
    if (begins === (this.chunk !== undefined)) fail("a chunk begins in another, or goes on that never began");
    if (plan.rows.length > this.limits.chunk) fail(`${plan.rows.length} rows in a chunk`);
    if (plan.rows.some(({ sample }) => sample)) fail("a chunk samples");
    const chunk = (this.chunk ??= { plan, ms: this.costOf(plan) });
    if (this.exact) this.checkCapacity();
    const whole = this.pieceMs > 0 ? this.pieceMs * Math.max(1, Math.floor(ms / this.pieceMs)) : ms;
    const spent = Math.min(whole, chunk.ms);
    this.now += spent;
    this.slices.push(spent);
    chunk.ms -= spent;
    if (chunk.ms === 0) {
      this.chunk = undefined;
      this.place(plan);
    }
    this.scheduler.applySlice(this.chunk ? "paused" : "done", spent);
    return plan;
  }

  private computeMedia(piece: MediaStep): StepPlan {
    const { key, sequence, span, offset, count, position, starts } = piece;
    const { tokens, request } = this.job(key);
    if (this.chunk?.plan.rows.some((row) => row.key === key)) fail(`request ${key} is computed twice at once`);
    if (count > this.limits.batch) fail(`${count} rows of a medium in a batch`);
    if (offset + count > span.tokens) fail("a piece beyond its medium");
    const adapters = this.keyOf(request.adapters ?? []);
    if (this.keyOf(piece.adapters) !== adapters) fail(`a medium of request ${key} with others' adapters`);
    for (let at = offset; at < offset + count; at++) {
      this.fill(sequence, { token: tokens[span.start + at] as number, adapters }, position + at);
    }
    if (this.exact) this.checkCapacity();
    const ms = this.cost(0, count, this.scheduler.kv.runningCells, this.scheduler.kv.cells);
    this.now += ms;
    this.prefilled += count;
    this.pieces.push(piece);
    this.scheduler.applyMedia(piece, true, ms);
    const rows = { rows: [], together: false, decodeRows: 0, prefillRows: count, speculativeRows: 0 };
    return { ...rows, adapters: piece.adapters, started: starts ? [key] : [], steps: 1 };
  }

  private place(plan: StepPlan): void {
    if (this.keepPlans) this.plans.push(plan);
    this.prefilled += plan.prefillRows;
    if (plan.rows.length > this.limits.batch) fail(`${plan.rows.length} rows in a batch`);
    const adapters = this.keyOf(plan.adapters);
    let previous = -1;
    if (plan.together) checkTogether(plan, this.limits.layout, (sequence) => this.cache.get(sequence) ?? []);
    for (const row of plan.rows) {
      if (row.speculative) {
        this.fill(row.sequence, { token: row.token, adapters }, row.position);
        continue;
      }
      if (row.sequence < previous || row.sequence >= this.limits.sequences)
        fail(`sequence ${row.sequence} out of order`);
      previous = row.sequence;
      const { tokens, request } = this.job(row.key);
      if (this.keyOf(request.adapters ?? []) !== adapters) fail(`request ${row.key} with others' adapters`);
      if (row.token !== tokens[row.position]) fail(`a token that request ${row.key} does not have`);
      if (plan !== this.chunk?.plan && this.chunk?.plan.rows.some(({ key }) => key === row.key))
        fail(`request ${row.key} is computed twice at once`);
      const cells = this.fill(row.sequence, { token: row.token, adapters }, row.position);
      if (!row.sample) continue;
      if (cells.length !== tokens.length) fail(`request ${row.key} samples before its end`);
      if (this.exact && cells.some(({ token }, at) => token !== tokens[at]))
        fail(`request ${row.key} reads another's tokens`);
      if (cells.some((cell) => cell.adapters !== adapters))
        fail(`request ${row.key} reads what other adapters computed`);
    }
    if (this.exact) this.checkCapacity();
  }

  private fill(sequence: number, cell: Cell, position: number): Cell[] {
    const cells = this.cache.get(sequence) ?? [];
    if (position !== cells.length) fail(`position ${position} after ${cells.length} cells`);
    cells.push(cell);
    this.cache.set(sequence, cells);
    return cells;
  }

  private checkCapacity(): void {
    const { layout, cells, sequences } = this.limits;
    if (layout !== "streams") {
      const used = this.cells + (this.chunk?.plan.rows.length ?? 0);
      if (used > cells) fail(`${used} cells used of ${cells}`);
      return;
    }
    const share = Math.floor(cells / sequences);
    for (const held of this.cache.values())
      if (held.length > share) fail(`${held.length} cells in a share of ${share}`);
  }
}
