// Decides which prompts are computed next, and how much of them in one step.

import { TILE_ROWS } from "../../domain/kv-layout.ts";
import { BURST_STEP_MS, type StepCost } from "../cost/step-cost.ts";
import type { SchedulerLimits } from "../limits.ts";
import { rowOf, type PlanRow } from "../plan.ts";
import type { Key, Sequence } from "../sequence.ts";
import type { Tiles } from "./tiles.ts";

/** Longest prefill step while no stream decodes: new requests are considered only after the step. */
const QUIET_STEP_MS = 1000;
/** Milliseconds that each request of a burst adds to the length of a step. */
const BURST_SHARE_MS = 200;
/** BURST_STEP_MS while no stream decodes: only new requests wait for it, and the burst starts and ends together. */
const QUIET_BURST_STEP_MS = 4000;
/** Prefill reaches its full rate at about this size; smaller steps read all weights for fewer tokens. */
const EFFICIENT_CHUNK = 128;

interface PromptRows {
  readonly rows: PlanRow[];
  /** Prompts of which nothing was computed before. */
  readonly started: Key[];
}

/** Returns requests whose prompts are computed now, of any adapters; background ones only if there are no others. */
export function unfinished(running: readonly Sequence[]): Sequence[] {
  const prompts = running.filter((sequence) => !sequence.decoding);
  const urgent = prompts.filter(({ background }) => !background);
  return urgent.length > 0 ? urgent : prompts;
}

/**
 * Sorts requests, shortest remaining work first, so that a short question does not wait for a long document. The time
 * that a request has waited is subtracted, so that the document is not overtaken for longer than it takes itself.
 */
export function byRemainingWork(sequences: readonly Sequence[], cost: StepCost, now: number): Sequence[] {
  const score = (sequence: Sequence) => cost.prefillMs(sequence.uncomputed) - (now - sequence.addedAt);
  return sequences.toSorted((a, b) => score(a) - score(b) || a.key - b.key);
}

/**
 * Returns rows of prompts, in their order, at most `budget`; `endOf`: up to where one step can compute a prompt. A prompt
 * that is computed as one tile first gives up its cached tokens from the tile's beginning on (`Tiles.fill`).
 */
export function promptRows(
  prompts: readonly Sequence[],
  budget: number,
  endOf: (prompt: Sequence) => number,
  tiles: Tiles,
): PromptRows {
  const { tile, microBatch } = tiles.limits;
  const rows: PlanRow[] = [];
  const started: Key[] = [];
  let areTiles: boolean | undefined;
  for (const prompt of prompts) {
    const last = endOf(prompt);
    const isTile = tiles.takesOneTile(prompt, last);
    // Beside prompts of other lengths, a tile would be computed in parts.
    if (isTile !== (areTiles ??= isTile)) break;
    const left = (isTile ? Math.min(budget, microBatch) : budget) - rows.length;
    const wanted = isTile ? tile : last - prompt.computed;
    // Where sequences lie apart, part of a prompt beside whole prompts would take one more pass over the weights.
    if (left <= 0 || (rows.length > 0 && wanted > left)) break;
    if (isTile && wanted <= left) tiles.fill(prompt, last);
    const end = Math.min(last, prompt.computed + left);
    addRows(prompt, end, { rows, started });
  }
  return { rows, started };
}

/** Adds the rows of a prompt's next tokens up to `end`. */
function addRows(prompt: Sequence, end: number, { rows, started }: PromptRows): void {
  if (!prompt.started && end > prompt.computed) {
    prompt.started = true;
    started.push(prompt.key);
  }
  for (let index = prompt.computed; index < end; index++) rows.push(rowOf(prompt, index));
}

/**
 * Returns rows of prompts with a common prefix, each up to its end, at most `budget` and one micro-batch: with more, each
 * row would pass over more cells that are not its own. Returns undefined unless there are several such prompts.
 */
export function rowsTogether(
  prompts: readonly Sequence[],
  budget: number,
  endOf: (prompt: Sequence) => number,
  tiles: Tiles,
): PromptRows | undefined {
  const { microBatch, region, tile } = tiles.limits;
  const most = Math.min(budget, microBatch);
  const group: Sequence[] = [];
  let count = 0;
  for (const prompt of prompts) {
    const rows = count + endOf(prompt) - prompt.computed;
    // All are computed in one region, with copies of no more cells than rows, and of an unfinished page of each.
    const cells = (group[0] ?? prompt).computed + 2 * rows + tile * (group.length + 1);
    if (rows > most || cells > region) break;
    count = rows;
    group.push(prompt);
  }
  if (group.length < 2) return undefined;
  if (tile <= most) tiles.fillGroup(group, count);
  const added: PromptRows = { rows: [], started: [] };
  for (const prompt of group) addRows(prompt, endOf(prompt), added);
  return added;
}

export class PrefillBudget {
  /** Requests of the current burst: with short prompts, without a first token. Kept until the last of them has one. */
  private burst = 0;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly cost: StepCost,
  ) {}

  /** Whether there is a burst: streams wait longer for it, as its prompts are computed together in full batches. */
  get isForBurst(): boolean {
    return this.burst > 1;
  }

  /** Updates the burst; `prefilling`: all requests whose prompts are not fully computed. */
  updateBurst(prefilling: readonly Sequence[], streams: readonly Sequence[]): void {
    const { batch } = this.limits;
    // Others do not wait longer for several background prompts than for one.
    const alone = streams.length > 0 && streams.every(({ background }) => background);
    const prompts = prefilling.filter(({ background }) => !background || alone);
    const left = prompts.reduce((sum, { uncomputed }) => sum + uncomputed, 0);
    // Long prompts do not count as a burst, even when little is left of them.
    const short = prompts.filter(({ length, cached = 0 }) => length - cached <= batch).length;
    // The last requests of a burst still count as a burst; else they would get the small chunks of a single request.
    this.burst = prompts.length === 0 ? 0 : Math.max(left <= batch ? this.burst : 0, short);
  }

  /**
   * Returns how many prompt tokens the next step may compute for the requests of `prefilling`. `steps`, one for each
   * set of adapters, share the time that streams wait.
   */
  tokens(decodeRows: number, prefilling: readonly Sequence[], steps: number): number {
    if (prefilling.length === 0) return 0;
    if (decodeRows > 0) return this.cost.tokensBeside(this.msBeside(decodeRows) / steps);
    const ms = this.isForBurst ? QUIET_BURST_STEP_MS : QUIET_STEP_MS;
    const tokens = Math.min(this.cost.tokensWithin(ms, this.limits.batch), this.limits.batch);
    return Math.max(EFFICIENT_CHUNK, tokens - (tokens % TILE_ROWS));
  }

  /** Returns how many milliseconds prompts may be computed between two steps of `decodeRows` streams. */
  sliceMs(decodeRows: number): number {
    return decodeRows === 0 ? QUIET_STEP_MS : this.msBeside(decodeRows);
  }

  /** Returns by how many ms the gap between two tokens may grow: up to the stall budget, or to twice a step. */
  pauseMs(decodeRows: number): number {
    const step = this.cost.decodeStepMs(decodeRows);
    return Math.max(this.limits.stallBudgetMs - step, step);
  }

  private msBeside(decodeRows: number): number {
    const burst = this.isForBurst ? Math.min(BURST_SHARE_MS * this.burst, BURST_STEP_MS) : 0;
    return Math.max(this.pauseMs(decodeRows), burst);
  }
}
