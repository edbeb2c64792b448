// Learns what a step costs, so that prefill chunks can be sized in milliseconds instead of tokens.

import { CellCost, PromptCellCost, TileCost } from "./cell-cost.ts";
import { blendSteady } from "./moving-average.ts";

/** The longest that running streams wait in one step for a burst of requests, in milliseconds. */
export const BURST_STEP_MS = 1500;

/** A chunk smaller than this costs nearly as much as one of this size. */
const SMALLEST_CHUNK = 16;
/** Fewer prompt rows than this cost as much as rows of streams, so they tell nothing about the cost of prompts. */
const FEWEST_PROMPT_ROWS = 64;

/** Cells of the KV cache that were in use when a step began. */
export interface CellsInUse {
  readonly running: number;
  readonly idle: number;
}

/** Moving averages of measured steps, in milliseconds. */
export class StepCost {
  /** What the cells in use cost streams. */
  readonly streams = new CellCost();
  /** What own and idle cells cost a prompt. */
  readonly prompts = new PromptCellCost();
  /** What the tiles of a prompt's rows cost. */
  readonly tiles = new TileCost();
  private decodeStep: number | undefined;
  /** Milliseconds per prompt token when no stream is in the batch. */
  private prefillToken: number | undefined;
  /** Milliseconds per prompt token on top of a decode step. */
  private chunkToken: number | undefined;

  record(decodeRows: number, prefillRows: number, ms: number, { running, idle }: CellsInUse): void {
    if (prefillRows === 0) {
      this.decodeStep = blendSteady(this.decodeStep, ms);
      this.streams.record(decodeRows, running + idle, ms);
      return;
    }
    const token = Math.max(0, ms - (decodeRows === 0 ? 0 : (this.decodeStep ?? 0))) / prefillRows;
    if (prefillRows >= SMALLEST_CHUNK) {
      if (decodeRows === 0) this.prefillToken = blendSteady(this.prefillToken, token);
      else this.chunkToken = blendSteady(this.chunkToken, token);
    } else if (decodeRows === 0) {
      // A few tokens cost as much as a whole step: this is an upper bound for the price of one.
      this.prefillToken = Math.min(this.prefillToken ?? token, token);
    }
  }

  /** Records a step of one prompt while no other request runs. */
  recordAlone(rows: number, ms: number, { running, idle }: CellsInUse): void {
    if (rows < FEWEST_PROMPT_ROWS) return;
    this.prompts.record(rows, running + rows / 2, idle, ms);
    this.tiles.record(rows, running + rows / 2, ms);
  }

  /** Milliseconds per prompt token when no stream is in the batch; undefined until a prompt has been measured. */
  get prefillTokenMs(): number | undefined {
    return this.prefillToken ?? this.chunkToken;
  }

  /** Returns whether computing `tokens` prompt tokens takes longer than `ms`; true until a prompt has been measured. */
  prefillExceeds(tokens: number, ms: number): boolean {
    return this.prefillTokenMs === undefined || tokens * this.prefillTokenMs > ms;
  }

  /** Returns the milliseconds for `tokens` prompt tokens when no stream is in the batch. */
  prefillMs(tokens: number): number {
    return tokens * (this.prefillTokenMs ?? 1);
  }

  /** Returns the milliseconds for a decode step of `rows` rows, at least those that as many prompt tokens take. */
  decodeStepMs(rows: number): number {
    return Math.max(this.decodeStep ?? 0, rows * (this.prefillToken ?? 0));
  }

  /** Returns how many decode steps of `rows` rows fit into `ms`; 1 until a step has been measured. */
  decodeStepsWithin(ms: number, rows: number): number {
    return this.decodeStep === undefined ? 1 : affordable(ms, this.decodeStepMs(rows));
  }

  /** Returns how many prompt tokens fit into `budgetMs` when no stream is in the batch; `fallback` until measured. */
  tokensWithin(budgetMs: number, fallback: number): number {
    const token = this.prefillTokenMs;
    return token === undefined ? fallback : affordable(budgetMs, token);
  }

  /**
   * Returns how many prompt tokens a step in which streams decode may also compute, so that the step becomes at most
   * `budgetMs` longer; at least SMALLEST_CHUNK.
   */
  tokensBeside(budgetMs: number): number {
    const token = this.chunkToken ?? this.prefillToken;
    return token === undefined ? SMALLEST_CHUNK : Math.max(SMALLEST_CHUNK, affordable(budgetMs, token));
  }
}

const affordable = (ms: number, token: number): number =>
  token <= 0 ? Number.MAX_SAFE_INTEGER : Math.floor(ms / token);
