// What a cell of a unified KV cache costs each step, learned from steps of different sizes: every row looks at all cells
// in use, whoever's they are. (llama.cpp looks at all cells up to the highest that is used, and does not tell which that is:
// what leaves from below it pays once that one leaves, too, and its place is taken by others.)

import { LeastSquares, priced } from "./least-squares.ts";

/** Steps before an estimate is used. */
const FEWEST_STEPS = 48;
const FEWEST_PROMPT_STEPS = 24;
/** Cells of idle sequences may slow a step of streams down by this share; a prompt, by this one: they make way at once. */
const IDLE_SHARE = 0.15;
const PROMPT_IDLE_SHARE = 0.05;
/** So many may stay in any case. */
const FEWEST_CELLS = 1024;
/** Cells are counted in thousands, so that the sums are of one size. */
const UNIT = 1000;
/** What is moved away is moved back, some day. */
const MOVES = 2;

/** What cells cost streams: ms = a + b · rows + c · rows · cells. */
export class CellCost {
  private readonly fit = new LeastSquares(FEWEST_STEPS);

  record(rows: number, cells: number, ms: number): void {
    this.fit.record([1, rows, (rows * cells) / UNIT], ms);
  }

  /** Idle cells that are worth what they cost beside `rows` rows with so many cells of their own; without end, if unknown. */
  affordable(rows: number, cells: number): number {
    const { prices } = this.fit;
    const perCell = prices ? (prices[2] * rows) / UNIT : 0;
    if (!prices || perCell <= 0) return Number.POSITIVE_INFINITY;
    const step = priced([1, rows, (rows * cells) / UNIT], prices);
    return Math.max(FEWEST_CELLS, (IDLE_SHARE * step) / perCell);
  }
}

/** What cells cost a prompt: ms = rows · (a + b · its own cells + c · idle cells), which it looks at only to see whose they are. */
export class PromptCellCost {
  private readonly fit = new LeastSquares(FEWEST_PROMPT_STEPS);

  record(rows: number, own: number, idle: number, ms: number): void {
    this.fit.record([rows, (rows * own) / UNIT, (rows * idle) / UNIT], ms);
  }

  /**
   * Idle cells that are worth what they cost a prompt of `rows` rows with so many cells of its own, when moving one away
   * costs `moveMs`; without end, if that is unknown or the prompt too short to be worth it.
   */
  affordable(rows: number, own: number, moveMs: number): number {
    const { prices } = this.fit;
    // No idle cell costs more than one that is computed with.
    const idle = prices ? Math.min(prices[2], prices[1]) / UNIT : 0;
    if (!prices || rows * idle <= MOVES * moveMs) return Number.POSITIVE_INFINITY;
    const row = priced([1, own / UNIT, 0], prices);
    return Math.max(FEWEST_CELLS, (PROMPT_IDLE_SHARE * row) / idle);
  }
}
