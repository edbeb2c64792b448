// What a cell of a unified KV cache costs each step, learned from steps of different sizes: every row looks at all cells
// in use, whoever's they are. (llama.cpp looks at all cells up to the highest that is used, and does not tell which that is:
// what leaves from below it pays once that one leaves, too, and its place is taken by others.)

/** Weight that a step keeps with each later one. */
const MEMORY = 0.998;
/** Steps before the estimate is used. */
const FEWEST_STEPS = 48;
/** Cells of idle sequences may slow a step down by this share. */
const IDLE_SHARE = 0.15;
/** So many may stay in any case. */
const FEWEST_CELLS = 1024;
const RIDGE = 1e-3;
const SINGULAR = 1e-9;
/** A step that takes so much longer than expected was disturbed. */
const OUTLIER = 3;
/** Cells are counted in thousands, so that the sums are of one size. */
const UNIT = 1000;

type Vector = [number, number, number];

/** Fits ms = a + b · rows + c · rows · cells by least squares, in which old steps fade. */
export class CellCost {
  private readonly products: [Vector, Vector, Vector] = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  private readonly sums: Vector = [0, 0, 0];
  private steps = 0;

  record(rows: number, cells: number, ms: number): void {
    const x: Vector = [1, rows, (rows * cells) / UNIT];
    const fit = this.steps >= FEWEST_STEPS ? this.solve() : undefined;
    if (fit && ms > OUTLIER * Math.max(dot(fit, x), 0)) return;
    this.steps++;
    for (let i = 0; i < 3; i++) {
      const row = this.products[i] as Vector;
      for (let j = 0; j < 3; j++) row[j] = MEMORY * (row[j] as number) + (x[i] as number) * (x[j] as number);
      this.sums[i] = MEMORY * (this.sums[i] as number) + (x[i] as number) * ms;
    }
  }

  /** Idle cells that are worth what they cost beside `rows` rows with so many cells of their own; without end, if unknown. */
  affordable(rows: number, cells: number): number {
    const fit = this.steps >= FEWEST_STEPS ? this.solve() : undefined;
    const perCell = fit ? (fit[2] * rows) / UNIT : 0;
    if (!fit || perCell <= 0) return Number.POSITIVE_INFINITY;
    const step = dot(fit, [1, rows, (rows * cells) / UNIT]);
    return Math.max(FEWEST_CELLS, (IDLE_SHARE * step) / perCell);
  }

  /** Cramer's rule; undefined while the steps do not differ enough. */
  private solve(): Vector | undefined {
    const [constant, rows, cells] = this.products;
    // Where the number of rows never changes, what a row costs cannot be told from what a step does: call it the step's.
    const products: [Vector, Vector, Vector] = [constant, rows.with(1, rows[1] * (1 + RIDGE)) as Vector, cells];
    const whole = determinant(products);
    if (!(whole > SINGULAR * products[0][0] * products[1][1] * products[2][2])) return undefined;
    const solution = [0, 1, 2].map((column) => {
      const replaced = products.map((row, i) => row.with(column, this.sums[i] as number) as Vector);
      return determinant(replaced as [Vector, Vector, Vector]) / whole;
    });
    return solution as Vector;
  }
}

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

const determinant = ([a, b, c]: readonly [Vector, Vector, Vector]): number =>
  a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
