// What a cell of a unified KV cache costs each step, learned from steps of different sizes. In each step, attention reads all
// cells in use for every row, also those of other sequences. llama.cpp in fact reads all cells up to the highest one in use
// and does not report which that is. So freeing lower cells saves nothing until the highest is freed too; until then new
// tokens fill the gaps.

import { LeastSquares, priced } from "./least-squares.ts";

/** Steps before an estimate is used. */
const FEWEST_STEPS = 48;
const FEWEST_PROMPT_STEPS = 12;
/** While the number of rows never changes, the cost of a row cannot be told from that of a step: it counts as the step's. */
const ROWS_RIDGE = 1e-3;
const IDLE_RIDGE = 0.1;
/** Idle cells may slow down a step of streams by this share; beyond it they are offloaded bit by bit. */
const IDLE_SHARE = 0.15;
/** The same for a prompt, before which they are offloaded at once. */
const PROMPT_IDLE_SHARE = 0.01;
/** Cost of an idle cell for a prompt, as a share of an own cell's, before it is measured: idle cells are masked. */
const MASKED_SHARE = 1 / 16;
/** So many idle cells may stay in any case. */
const FEWEST_CELLS = 1024;
/** Cells are counted in thousands, so that the sums are of one size. */
const UNIT = 1000;

/** What cells cost streams: ms = a + b · rows + c · rows · cells. */
export class CellCost {
  private readonly fit = new LeastSquares(FEWEST_STEPS, 1, ROWS_RIDGE);

  record(rows: number, cells: number, ms: number): void {
    this.fit.record([1, rows, (rows * cells) / UNIT], ms);
  }

  /** How many idle cells may slow down a step of so many rows and cells; no limit while the cost is unknown. */
  affordable(rows: number, cells: number): number {
    const { prices } = this.fit;
    const perCell = prices ? (prices[2] * rows) / UNIT : 0;
    if (!prices || perCell <= 0) return Number.POSITIVE_INFINITY;
    const step = priced([1, rows, (rows * cells) / UNIT], prices);
    return Math.max(FEWEST_CELLS, (IDLE_SHARE * step) / perCell);
  }
}

/** What cells cost a prompt: ms = rows · (a + b · own cells + c · idle cells). Idle cells are cheaper: they are masked out. */
export class PromptCellCost {
  private readonly fit = new LeastSquares(FEWEST_PROMPT_STEPS, 2, IDLE_RIDGE);

  record(rows: number, own: number, idle: number, ms: number): void {
    // The second part assumes that an idle cell costs MASKED_SHARE; the third corrects that.
    this.fit.record([rows, (rows * (own + MASKED_SHARE * idle)) / UNIT, (rows * idle) / UNIT], ms);
  }

  /** What one idle cell adds to a prompt of so many rows, in milliseconds; 0 if unknown. */
  idleCellMs(rows: number): number {
    const { prices } = this.fit;
    if (!prices) return 0;
    const own = Math.max(prices[1], 0);
    // An idle cell never costs more than an own one.
    return (rows * Math.min(Math.max(MASKED_SHARE * own + prices[2], 0), own)) / UNIT;
  }

  /** How many idle cells may slow down a prompt of so many rows and own cells; no limit while the cost is unknown. */
  affordable(rows: number, own: number): number {
    const { prices } = this.fit;
    const perCell = this.idleCellMs(rows);
    if (!prices || perCell === 0) return Number.POSITIVE_INFINITY;
    const prompt = rows * priced([1, own / UNIT, 0], prices);
    return Math.max(FEWEST_CELLS, (PROMPT_IDLE_SHARE * prompt) / perCell);
  }
}
