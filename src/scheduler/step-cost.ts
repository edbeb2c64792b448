// Learns what a step costs, so that prefill chunks can be sized in milliseconds instead of tokens.

import { CellCost } from "./cell-cost.ts";
import { blend } from "./moving-average.ts";

/** A chunk smaller than this costs nearly as much as one of this size. */
const SMALLEST_CHUNK = 16;

/** Moving averages of measured steps, in milliseconds. */
export class StepCost {
  private readonly cellCost = new CellCost();
  private decodeStep: number | undefined;
  /** Per prompt token, alone in the batch. */
  private prefillToken: number | undefined;
  /** Per prompt token on top of a decode step. */
  private chunkToken: number | undefined;

  /** `cells`: those of the KV cache that are in use. */
  record(decodeRows: number, prefillRows: number, ms: number, cells: number): void {
    if (prefillRows === 0) {
      this.decodeStep = blend(this.decodeStep, ms);
      this.cellCost.record(decodeRows, cells, ms);
      return;
    }
    const token = Math.max(0, ms - (decodeRows === 0 ? 0 : (this.decodeStep ?? 0))) / prefillRows;
    if (prefillRows >= SMALLEST_CHUNK) {
      if (decodeRows === 0) this.prefillToken = blend(this.prefillToken, token);
      else this.chunkToken = blend(this.chunkToken, token);
    } else if (decodeRows === 0) {
      // A few tokens cost what a step does, whatever their number: a token's price is no higher, and mostly far lower.
      this.prefillToken = Math.min(this.prefillToken ?? token, token);
    }
  }

  /** Idle cells of the cache that a step of so many rows, with so many cells of their own, can bear. */
  affordableCells(rows: number, cells: number): number {
    return this.cellCost.affordable(rows, cells);
  }

  /** What computing a prompt token costs, alone in the batch; undefined until anything was measured. */
  get prefillTokenMs(): number | undefined {
    return this.prefillToken ?? this.chunkToken;
  }

  /** What so many prompt tokens take by themselves. */
  prefillMs(tokens: number): number {
    return tokens * (this.prefillTokenMs ?? 1);
  }

  /** What a step of so many decoding rows costs: as measured, or at least what as many prompt tokens do. */
  decodeStepMs(rows: number): number {
    return Math.max(this.decodeStep ?? 0, rows * (this.prefillToken ?? 0));
  }

  /** Decode steps of so many rows that fit `ms`; 1 until one was measured. */
  decodeStepsWithin(ms: number, rows: number): number {
    return this.decodeStep === undefined ? 1 : affordable(ms, this.decodeStepMs(rows));
  }

  /** Prompt tokens that fit `budgetMs` by themselves; `fallback` until anything was measured. */
  tokensWithin(budgetMs: number, fallback: number): number {
    const token = this.prefillTokenMs;
    return token === undefined ? fallback : affordable(budgetMs, token);
  }

  /**
   * Prompt tokens for a step in which others decode, that make it `budgetMs` longer at most; where that is too little to be
   * of use, a small chunk.
   */
  tokensBeside(budgetMs: number): number {
    const token = this.chunkToken ?? this.prefillToken;
    return token === undefined ? SMALLEST_CHUNK : Math.max(SMALLEST_CHUNK, affordable(budgetMs, token));
  }
}

const affordable = (ms: number, token: number): number =>
  token <= 0 ? Number.MAX_SAFE_INTEGER : Math.floor(ms / token);
