// What a cell of a unified KV cache costs each step, learned from steps of different sizes: every row looks at all cells
// in use, whoever's they are. (llama.cpp looks at all cells up to the highest that is used, and does not tell which that is:
// what leaves from below it pays once that one leaves, too, and its place is taken by others.)

import { LeastSquares, priced } from "./least-squares.ts";

/** Steps before an estimate is used. */
const FEWEST_STEPS = 48;
const FEWEST_PROMPT_STEPS = 12;
/** Where the number of rows never changes, what a row costs cannot be told from what a step does: call it the step's. */
const ROWS_RIDGE = 1e-3;
const IDLE_RIDGE = 0.1;
/** Cells of idle sequences may slow a step of streams down by this share; a prompt, by this one: they make way at once. */
const IDLE_SHARE = 0.15;
const PROMPT_IDLE_SHARE = 0.01;
/** What an idle cell costs a prompt, of what its own do, before that is known: masked cells are passed over. */
const MASKED_SHARE = 1 / 16;
/** So many may stay in any case. */
const FEWEST_CELLS = 1024;
/** Cells are counted in thousands, so that the sums are of one size. */
const UNIT = 1000;

/** What cells cost streams: ms = a + b · rows + c · rows · cells. */
export class CellCost {
  private readonly fit = new LeastSquares(FEWEST_STEPS, 1, ROWS_RIDGE);

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
  private readonly fit = new LeastSquares(FEWEST_PROMPT_STEPS, 2, IDLE_RIDGE);

  record(rows: number, own: number, idle: number, ms: number): void {
    // The last part is by how much the share is another one.
    this.fit.record([rows, (rows * (own + MASKED_SHARE * idle)) / UNIT, (rows * idle) / UNIT], ms);
  }

  /** What each idle cell costs a prompt of so many rows, in milliseconds; 0 if unknown. */
  idleCellMs(rows: number): number {
    const { prices } = this.fit;
    if (!prices) return 0;
    const own = Math.max(prices[1], 0);
    // No idle cell costs more than one that is computed with.
    return (rows * Math.min(Math.max(MASKED_SHARE * own + prices[2], 0), own)) / UNIT;
  }

  /** Idle cells that a prompt of so many rows, with so many cells of its own, does not notice; without end, if unknown. */
  affordable(rows: number, own: number): number {
    const { prices } = this.fit;
    const perCell = this.idleCellMs(rows);
    if (!prices || perCell === 0) return Number.POSITIVE_INFINITY;
    const prompt = rows * priced([1, own / UNIT, 0], prices);
    return Math.max(FEWEST_CELLS, (PROMPT_IDLE_SHARE * prompt) / perCell);
  }
}
