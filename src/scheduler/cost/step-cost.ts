// Learns what a step costs, so that prefill chunks can be sized in milliseconds instead of tokens.

import { CellCost, PromptCellCost } from "./cell-cost.ts";
import { blend } from "./moving-average.ts";

/** The longest that running streams wait in one step for a burst of requests, in milliseconds. */
export const BURST_STEP_MS = 1500;

/** A chunk smaller than this costs nearly as much as one of this size. */
const SMALLEST_CHUNK = 16;
/** Fewer prompt rows cost what rows of streams do, and say nothing about prompts. */
const FEWEST_PROMPT_ROWS = 64;

/** Cells of the KV cache that were in use when a step began. */
export interface CellsInUse {
  readonly running: number;
  readonly idle: number;
}

/** Moving averages of measured steps, in milliseconds. */
export class StepCost {
  private readonly cellCost = new CellCost();
  private readonly promptCellCost = new PromptCellCost();
  private decodeStep: number | undefined;
  /** Per prompt token when no stream is in the batch. */
  private prefillToken: number | undefined;
  /** Per prompt token on top of a decode step. */
  private chunkToken: number | undefined;

  record(decodeRows: number, prefillRows: number, ms: number, { running, idle }: CellsInUse): void {
    if (prefillRows === 0) {
      this.decodeStep = blend(this.decodeStep, ms);
      this.cellCost.record(decodeRows, running + idle, ms);
      return;
    }
    const token = Math.max(0, ms - (decodeRows === 0 ? 0 : (this.decodeStep ?? 0))) / prefillRows;
    if (prefillRows >= SMALLEST_CHUNK) {
      if (decodeRows === 0) this.prefillToken = blend(this.prefillToken, token);
      else this.chunkToken = blend(this.chunkToken, token);
    } else if (decodeRows === 0) {
      // A few tokens cost as much as a whole step: this is an upper bound for the price of one.
      this.prefillToken = Math.min(this.prefillToken ?? token, token);
    }
  }

  /** Records a step of one prompt while no other request runs. */
  recordAlone(rows: number, ms: number, { running, idle }: CellsInUse): void {
    if (rows >= FEWEST_PROMPT_ROWS) this.promptCellCost.record(rows, running + rows / 2, idle, ms);
  }

  /** What one idle cell adds to a prompt with so many tokens left, in milliseconds; 0 if unknown. */
  idleCellMs(tokens: number): number {
    return this.promptCellCost.idleCellMs(tokens);
  }

  /** How many idle cells may slow down such a prompt, which has so many cells of its own. */
  affordableBesidePrompt(tokens: number, cells: number): number {
    return this.promptCellCost.affordable(tokens, cells + tokens / 2);
  }

  /** How many idle cells may slow down a step of so many rows, which have so many cells of their own. */
  affordableCells(rows: number, cells: number): number {
    return this.cellCost.affordable(rows, cells);
  }

  /** Milliseconds for a prompt token when no stream is in the batch; undefined until anything was measured. */
  get prefillTokenMs(): number | undefined {
    return this.prefillToken ?? this.chunkToken;
  }

  /** Whether computing so many prompt tokens takes longer than `ms`; true until anything was measured. */
  prefillExceeds(tokens: number, ms: number): boolean {
    return this.prefillTokenMs === undefined || tokens * this.prefillTokenMs > ms;
  }

  /** Milliseconds for so many prompt tokens when no stream is in the batch. */
  prefillMs(tokens: number): number {
    return tokens * (this.prefillTokenMs ?? 1);
  }

  /** Milliseconds for a step of so many decoding rows: as measured, or at least what as many prompt tokens take. */
  decodeStepMs(rows: number): number {
    return Math.max(this.decodeStep ?? 0, rows * (this.prefillToken ?? 0));
  }

  /** Decode steps of so many rows that fit `ms`; 1 until one was measured. */
  decodeStepsWithin(ms: number, rows: number): number {
    return this.decodeStep === undefined ? 1 : affordable(ms, this.decodeStepMs(rows));
  }

  /** Prompt tokens that fit `budgetMs` when no stream is in the batch; `fallback` until anything was measured. */
  tokensWithin(budgetMs: number, fallback: number): number {
    const token = this.prefillTokenMs;
    return token === undefined ? fallback : affordable(budgetMs, token);
  }

  /**
   * Prompt tokens for a step in which streams decode, such that they make it at most `budgetMs` longer; at least a small
   * chunk.
   */
  tokensBeside(budgetMs: number): number {
    const token = this.chunkToken ?? this.prefillToken;
    return token === undefined ? SMALLEST_CHUNK : Math.max(SMALLEST_CHUNK, affordable(budgetMs, token));
  }
}

const affordable = (ms: number, token: number): number =>
  token <= 0 ? Number.MAX_SAFE_INTEGER : Math.floor(ms / token);
