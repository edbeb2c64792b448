// Plans a step: the streams of one set of adapters, and with them prompts, speculative tokens or further decode steps.

import type { StepCost } from "../cost/step-cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import type { SchedulerLimits } from "../limits.ts";
import { sharesCells } from "../../domain/kv-layout.ts";
import { byPlace, multiStepMs, rowOf, type PlanRow, type SlicePlan, type StepPlan } from "../plan.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { Key, Sequence } from "../sequence.ts";
import type { Speculation } from "../speculation/speculation.ts";
import { Adjacency } from "./adjacency.ts";
import { byRemainingWork, promptRows, rowsTogether, unfinished, type PrefillBudget } from "./prefill.ts";
import type { Slices } from "./slices.ts";
import type { Tiles } from "./tiles.ts";

/** Longest multi-step decoding between two slices of a prompt: the slices use up the stall budget already. */
const MULTI_STEP_BETWEEN_SLICES_MS = 10;

/** A prompt that takes less than this share of the stall budget is computed in a step, as a slice costs more. */
const SHORT_SHARE = 0.5;

/** Estimated share of short conversations that continue after their cells were evicted, and must be computed again. */
const RETURNING = 0.1;

export class StepPlanner {
  private readonly adjacency: Adjacency;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly queue: RunQueue,
    private readonly kv: KvCache,
    private readonly cost: StepCost,
    private readonly budget: PrefillBudget,
    private readonly slices: Slices,
    private readonly speculation: Speculation,
    private readonly tiles: Tiles,
  ) {
    this.adjacency = new Adjacency(limits, kv, cost, speculation);
  }

  /** Plans a step of sequences with the same adapters; returns undefined when none of their tokens fits. */
  plan(group: readonly Sequence[], now: number): StepPlan | undefined {
    const started: Key[] = [];
    this.budget.updateBurst(promptsOfText(this.queue.running), this.queue.streams);
    const prompts = this.promptsInSteps;
    const { adapters = [], adapterKey } = group[0] ?? {};
    const ready = prompts.filter((prompt) => prompt.adapterKey === adapterKey);
    const streams = group.filter((sequence) => sequence.decoding);
    const [decoding, own] = this.tiles.turnOf(streams, ready);
    if (own.length === 0) this.adjacency.restore(decoding, now);
    const rows = decoding.map((sequence) => rowOf(sequence, sequence.computed));
    // Streams wait for the prompts of all sets.
    const { prefillRows, together } = this.addPrefill(rows, own, setsOf(prompts), started, now);
    // No prompt fits now: the streams have their turn.
    if (rows.length === 0) return decoding.length < streams.length ? this.plan(group, now) : undefined;
    // No streams speculate while prompts wait for their turn.
    const speculating = own.length === ready.length ? decoding : [];
    const speculativeRows = prefillRows === 0 ? this.speculation.add(rows, speculating, now) : 0;
    if (prefillRows === 0) {
      this.kv.offloadBeyond(this.cost.streams.affordable(decoding.length, this.kv.runningCells), now);
    } else if (this.queue.streams.length === 0) this.clearFor(prompts, now);
    // No prompt, whatever its adapters, may wait for several decode steps.
    const alone = prompts.length + speculativeRows === 0 && !this.speculation.drafting;
    const steps = alone ? this.multiSteps(decoding) : 1;
    if (!this.kv.ensureFree(rows.length * steps, now)) throw new Error("a plan that does not fit the KV cache");
    rows.sort(byPlace);
    const decodeRows = decoding.length;
    return { rows, together, adapters, started, decodeRows, prefillRows, speculativeRows, steps };
  }

  /** Plans the next slice of a chunk of prompts, if one is due between two steps of the streams. */
  planSlice(now: number): SlicePlan | undefined {
    const { running, streams } = this.queue;
    const waiting = promptsOfText(running);
    this.budget.updateBurst(waiting, streams);
    const prompts = this.budget.isForBurst ? [] : waiting.filter((prompt) => !prompt.scored && !this.isShort(prompt));
    return this.slices.plan(streams, prompts, this.freeCells - streams.length, now);
  }

  /** Whether prompts are computed in slices, except short ones and the last token of each, which is sampled. */
  private get sliced(): boolean {
    return this.limits.chunk > 0 && this.queue.streams.length > 0 && !this.budget.isForBurst;
  }

  /** Prompts whose next tokens are computed in a step. */
  private get promptsInSteps(): Sequence[] {
    const { sliced } = this;
    const here = (prompt: Sequence) => !sliced || prompt.scored || this.isShort(prompt);
    const prompts = promptsOfText(this.queue.running).filter((prompt) => !this.slices.computes(prompt) && here(prompt));
    // One scored prompt at a time: each of its tokens needs logits for the whole vocabulary.
    const scored = prompts.find((prompt) => prompt.scored);
    return prompts.filter((prompt) => !prompt.scored || prompt === scored);
  }

  private isShort(prompt: Sequence): boolean {
    const { uncomputed, textEnd } = prompt;
    const rows = this.tiles.takesOneTile(prompt, textEnd) ? this.limits.tile : uncomputed;
    return uncomputed === 1 || this.cost.prefillMs(rows) < SHORT_SHARE * this.limits.stallBudgetMs;
  }

  /** Cells that no running request holds. */
  private get freeCells(): number {
    return sharesCells(this.limits.layout) ? this.limits.cells - this.kv.runningCells : Number.POSITIVE_INFINITY;
  }

  private addPrefill(rows: PlanRow[], prompts: readonly Sequence[], sets: number, started: Key[], now: number) {
    const { length: streams } = this.queue.streams;
    const tokens = Math.max(this.sliced ? prompts.length : 0, this.budget.tokens(streams, prompts, sets));
    const budget = Math.min(tokens, this.limits.batch - rows.length, this.freeCells - streams);
    const ordered = byRemainingWork(prompts, this.cost, now);
    const [joint, others] = rows.length === 0 ? this.tiles.groupOf(ordered, endOf) : [[], ordered];
    const together = rowsTogether(joint, budget, endOf, this.tiles);
    const added = together ?? promptRows(others, budget, endOf, this.tiles);
    rows.push(...added.rows);
    started.push(...added.started);
    return { prefillRows: added.rows.length, together: together !== undefined };
  }

  /** Offloads or evicts idle cells if they slow down a long prompt by more time than offloading takes. */
  private clearFor(prompts: readonly Sequence[], now: number): void {
    const tokens = prompts.reduce((sum, { uncomputed }) => sum + uncomputed, 0);
    const cellMs = this.cost.prompts.idleCellMs(tokens);
    if (cellMs <= this.kv.host.roundTripTokenMs) return;
    // Each row reads those before it: on average, half of what is still to be computed.
    const limit = this.cost.prompts.affordable(tokens, this.kv.runningCells + tokens / 2);
    this.kv.clearBeyond(limit, now, cellMs > RETURNING * (this.cost.prefillTokenMs ?? cellMs));
  }

  /** Returns how many decode steps to make in one call, so that all sets of adapters together fit in `multiStepMs`. */
  private multiSteps(decoding: readonly Sequence[]): number {
    if (!decoding.every(({ multiStep }) => multiStep)) return 1;
    const { running, streams } = this.queue;
    const longest = unfinished(running).length > 0 ? MULTI_STEP_BETWEEN_SLICES_MS : Number.POSITIVE_INFINITY;
    const ms = Math.min(longest, multiStepMs(streams.length, this.limits.stallBudgetMs));
    const steps = this.cost.decodeStepsWithin(ms / setsOf(streams), decoding.length);
    const left = Math.min(...decoding.map((sequence) => sequence.mostLeft));
    const rows = this.limits.batch / decoding.length;
    const cells = (this.limits.cells - this.kv.runningCells) / streams.length;
    return Math.max(1, Math.floor(Math.min(steps, left, rows, cells)));
  }
}

/** Maximum rows of a prompt whose log probabilities one step may return: the capacity of the native library. */
const SCORED_ROWS = 64;

const endOf = ({ scored, computed, textEnd }: Sequence): number =>
  scored ? Math.min(textEnd, computed + SCORED_ROWS) : textEnd;

/** Returns the requests whose prompts are computed now and whose next tokens are text. */
const promptsOfText = (running: readonly Sequence[]): Sequence[] =>
  unfinished(running).filter(({ mediaNext }) => !mediaNext);

/** Returns how many sets of adapters compute these requests. */
const setsOf = (sequences: readonly Sequence[]): number => new Set(sequences.map(({ adapterKey }) => adapterKey)).size;
