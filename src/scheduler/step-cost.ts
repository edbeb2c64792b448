// Learns what a step costs, so that prefill chunks can be sized in milliseconds instead of tokens.

import { CellCost } from "./cell-cost.ts";

/** A chunk smaller than this costs nearly as much as one of this size. */
const SMALLEST_CHUNK = 16;
/** From so many rows on, kernels work on blocks of rows: with a long context, a token then costs half as much. */
const LARGE_CHUNK = 64;
const MUCH_DEARER = 1.4;
const SMOOTHING = 0.25;
const blend = (old: number | undefined, sample: number) =>
  old === undefined ? sample : old + SMOOTHING * (sample - old);

/** Moving averages of measured steps, in milliseconds. */
export class StepCost {
  private readonly cellCost = new CellCost();
  private decodeStep: number | undefined;
  /** Per prompt token, alone in the batch. */
  private prefillToken: number | undefined;
  /** Per prompt token on top of a decode step, in chunks below LARGE_CHUNK and from there on. */
  private smallChunkToken: number | undefined;
  private largeChunkToken: number | undefined;

  /** `cells`: those of the KV cache that are in use. */
  record(decodeRows: number, prefillRows: number, ms: number, cells: number): void {
    if (prefillRows === 0) {
      this.decodeStep = blend(this.decodeStep, ms);
      this.cellCost.record(decodeRows, cells, ms);
    } else if (decodeRows === 0) this.prefillToken = blend(this.prefillToken, ms / prefillRows);
    else {
      const token = Math.max(0, ms - (this.decodeStep ?? 0)) / prefillRows;
      if (prefillRows < LARGE_CHUNK) this.smallChunkToken = blend(this.smallChunkToken, token);
      else this.largeChunkToken = blend(this.largeChunkToken, token);
    }
  }

  /** Idle cells of the cache that a step of so many rows, with so many cells of their own, can bear. */
  affordableCells(rows: number, cells: number): number {
    return this.cellCost.affordable(rows, cells);
  }

  /** What computing a prompt token costs, alone in the batch; undefined until anything was measured. */
  get prefillTokenMs(): number | undefined {
    return this.prefillToken ?? this.largeChunkToken ?? this.smallChunkToken;
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
   * Prompt tokens for a step in which others decode, that make it `budgetMs` longer at most. Where that is too little to be
   * of use, it is what wastes the least: a small chunk, or a large one where a token costs much less in that.
   */
  tokensBeside(budgetMs: number): number {
    const known = this.prefillToken ?? this.largeChunkToken ?? this.smallChunkToken;
    if (known === undefined) return SMALLEST_CHUNK;
    const small = this.smallChunkToken ?? known;
    const large = this.largeChunkToken ?? known;
    const many = affordable(budgetMs, large);
    if (many >= LARGE_CHUNK) return many;
    const few = affordable(budgetMs, small);
    if (few >= SMALLEST_CHUNK) return Math.min(few, LARGE_CHUNK - 1);
    return small > MUCH_DEARER * large ? LARGE_CHUNK : SMALLEST_CHUNK;
  }
}

const affordable = (ms: number, token: number): number =>
  token <= 0 ? Number.MAX_SAFE_INTEGER : Math.floor(ms / token);
