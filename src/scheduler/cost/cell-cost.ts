// Learns from steps of different sizes what a cell of a unified KV cache costs in each step. For every row, attention
// reads all cells in use, including those of other sequences. More precisely, llama.cpp reads all cells up to the
// highest one in use, and does not report which cell that is. Freeing lower cells therefore saves nothing until the
// highest cell is freed too; until then, new tokens fill the gaps.

import { LeastSquares, priced } from "./least-squares.ts";

/** Steps to measure before an estimate is used. */
const FEWEST_STEPS = 48;
const FEWEST_PROMPT_STEPS = 12;
/** While the number of rows never changes, the cost of a row counts as the step's: the two cannot be told apart. */
const ROWS_RIDGE = 1e-3;
const IDLE_RIDGE = 0.1;
/** Idle cells may slow down a step of streams by this share; further ones are offloaded, a part in each step. */
const IDLE_SHARE = 0.15;
/** The same share for a prompt. Before a prompt, idle cells beyond it are offloaded at once. */
const PROMPT_IDLE_SHARE = 0.01;
/** Assumed cost of an idle cell for a prompt until measured, as a share of an own cell's: idle cells are masked. */
const MASKED_SHARE = 1 / 16;
/** This many idle cells may always stay. */
const FEWEST_CELLS = 1024;
/** The same before tiles are chosen: few, because a wrong choice costs no more than a short step. */
const FEWEST_FOR_TILES = 4;
/** How many times as much a cell costs a row that attention computes alone: 5.2 measured where tiles are fastest. */
const ALONE = 4;
/** Cells are counted in thousands, so that the sums of the fit are of similar size. */
const UNIT = 1000;

/** The cost of cells for streams: ms = a + b · rows + c · rows · cells. */
export class CellCost {
  private readonly fit = new LeastSquares(FEWEST_STEPS, 1, ROWS_RIDGE);

  record(rows: number, cells: number, ms: number): void {
    this.fit.record([1, rows, (rows * cells) / UNIT], ms);
  }

  /** Returns how many idle cells a step of `rows` rows and `cells` cells tolerates; Infinity while no cost is known. */
  affordable(rows: number, cells: number): number {
    const { prices } = this.fit;
    const perCell = prices ? (prices[2] * rows) / UNIT : 0;
    if (!prices || perCell <= 0) return Number.POSITIVE_INFINITY;
    const step = priced([1, rows, (rows * cells) / UNIT], prices);
    return Math.max(FEWEST_CELLS, (IDLE_SHARE * step) / perCell);
  }
}

/** The cost of cells for a prompt: ms = rows · (a + b · own + c · idle cells). Idle cells are masked, so cheaper. */
export class PromptCellCost {
  private readonly fit = new LeastSquares(FEWEST_PROMPT_STEPS, 2, IDLE_RIDGE);

  record(rows: number, own: number, idle: number, ms: number): void {
    // The second part assumes that an idle cell costs MASKED_SHARE of an own cell; the third part corrects that.
    this.fit.record([rows, (rows * (own + MASKED_SHARE * idle)) / UNIT, (rows * idle) / UNIT], ms);
  }

  /** Returns how many milliseconds one idle cell adds to a prompt of `rows` rows; 0 while unknown. */
  idleCellMs(rows: number): number {
    const { prices } = this.fit;
    if (!prices) return 0;
    const own = Math.max(prices[1], 0);
    // An idle cell never costs more than an own one.
    return (rows * Math.min(Math.max(MASKED_SHARE * own + prices[2], 0), own)) / UNIT;
  }

  /** Returns how many idle cells a prompt of `rows` rows and `own` cells tolerates; Infinity while no cost is known. */
  affordable(rows: number, own: number): number {
    const { prices } = this.fit;
    const perCell = this.idleCellMs(rows);
    if (!prices || perCell === 0) return Number.POSITIVE_INFINITY;
    const prompt = rows * priced([1, own / UNIT, 0], prices);
    return Math.max(FEWEST_CELLS, (PROMPT_IDLE_SHARE * prompt) / perCell);
  }
}

/** The cost of a prompt's rows, of which attention computes whole tiles: ms = a · rows + b · rows · cells + c. */
export class TileCost {
  private readonly fit = new LeastSquares(FEWEST_FOR_TILES, 2, IDLE_RIDGE);

  record(rows: number, cells: number, ms: number): void {
    this.fit.record([rows, (rows * cells) / UNIT, 1], ms);
  }

  /**
   * Returns whether attention over `cells` cells makes `rows` rows, each computed alone, slower than `tile` rows that
   * are computed together; false while no cost is known.
   */
  pays(rows: number, tile: number, cells: number): boolean {
    const { prices } = this.fit;
    if (!prices) return false;
    const row = Math.max(prices[0], 0);
    const attention = (Math.max(prices[1], 0) * cells) / UNIT;
    return tile * (row + attention) < rows * (row + ALONE * attention);
  }
}
