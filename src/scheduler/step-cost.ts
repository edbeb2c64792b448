// Learns what a step costs, so that prefill chunks can be sized in milliseconds instead of tokens.

import { CellCost } from "./cell-cost.ts";

const SMOOTHING = 0.25;
const blend = (old: number | undefined, sample: number) =>
  old === undefined ? sample : old + SMOOTHING * (sample - old);

/** Moving averages of measured steps, in milliseconds. */
export class StepCost {
  private readonly cellCost = new CellCost();
  private decodeStep: number | undefined;
  /** Per prompt token, alone in the batch. */
  private prefillToken: number | undefined;
  /** Per prompt token on top of a decode step: dearer, because small chunks reuse the weights less. */
  private mixedToken: number | undefined;

  /** `cells`: those of the KV cache that are in use. */
  record(decodeRows: number, prefillRows: number, ms: number, cells: number): void {
    if (prefillRows === 0) {
      this.decodeStep = blend(this.decodeStep, ms);
      this.cellCost.record(decodeRows, cells, ms);
    } else if (decodeRows === 0) this.prefillToken = blend(this.prefillToken, ms / prefillRows);
    else this.mixedToken = blend(this.mixedToken, Math.max(0, ms - (this.decodeStep ?? 0)) / prefillRows);
  }

  /** Idle cells of the cache that a step of so many rows, with so many cells of their own, can bear. */
  affordableCells(rows: number, cells: number): number {
    return this.cellCost.affordable(rows, cells);
  }

  /** What computing a prompt token costs, alone in the batch; undefined until anything was measured. */
  get prefillTokenMs(): number | undefined {
    return this.prefillToken ?? this.mixedToken;
  }

  /** What so many prompt tokens take by themselves. */
  prefillMs(tokens: number): number {
    return tokens * (this.prefillTokenMs ?? 1);
  }

  /** What a step of so many decoding rows costs: as measured, or at least what as many prompt tokens do. */
  decodeStepMs(rows: number): number {
    return Math.max(this.decodeStep ?? 0, rows * (this.prefillToken ?? 0));
  }

  /** Prompt tokens that fit `budgetMs`; `fallback` until anything was measured. */
  tokensWithin(budgetMs: number, besideDecode: boolean, fallback: number): number {
    const perToken = besideDecode ? (this.mixedToken ?? this.prefillToken) : (this.prefillToken ?? this.mixedToken);
    if (perToken === undefined) return fallback;
    return perToken <= 0 ? Number.MAX_SAFE_INTEGER : Math.floor(budgetMs / perToken);
  }
}
