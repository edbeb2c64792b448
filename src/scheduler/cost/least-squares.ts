// Fits the cost of a step, as a weighted sum of three parts, to the measured steps. Older steps count less.

import { OUTLIER } from "./moving-average.ts";

/** The weight of every earlier step is multiplied by this with each new step. */
const MEMORY = 0.998;
const SINGULAR = 1e-9;

type Parts = readonly [number, number, number];
type Vector = [number, number, number];

/** Fits ms = Σ part · price by least squares. */
export class LeastSquares {
  private readonly products: [Vector, Vector, Vector] = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  private readonly sums: Vector = [0, 0, 0];
  private steps = 0;
  /** Disturbed steps since the last one that was not. */
  private disturbed = 0;

  /**
   * `fewest`: how many steps to record before the fit is used. `doubtful`: index of the part whose price is taken as 0
   * when the steps do not vary enough to tell it from the other parts. `ridge`: how much they must vary for that, as a
   * share of the part's own square (ridge regression).
   */
  constructor(
    private readonly fewest: number,
    private readonly doubtful: 1 | 2,
    private readonly ridge: number,
  ) {}

  record(parts: Parts, ms: number): void {
    const { prices } = this;
    const isDisturbed = prices !== undefined && ms > OUTLIER * Math.max(priced(parts, prices), 0);
    this.disturbed = isDisturbed ? this.disturbed + 1 : 0;
    // When so many follow each other, the machine is slower than before.
    const startsOver = this.disturbed === this.fewest;
    if (isDisturbed && !startsOver) return;
    const memory = startsOver ? 0 : MEMORY;
    this.steps = startsOver ? 1 : this.steps + 1;
    for (let i = 0; i < 3; i++) {
      const row = this.products[i] as Vector;
      for (let j = 0; j < 3; j++) row[j] = memory * (row[j] as number) + (parts[i] as number) * (parts[j] as number);
      this.sums[i] = memory * (this.sums[i] as number) + (parts[i] as number) * ms;
    }
  }

  /** The price of each part in milliseconds, by Cramer's rule; undefined while steps are too few or too alike. */
  get prices(): Parts | undefined {
    if (this.steps < this.fewest) return undefined;
    const { doubtful, ridge } = this;
    const eased = (row: Vector) => row.with(doubtful, row[doubtful] * (1 + ridge)) as Vector;
    const products = this.products.map((row, at) => (at === doubtful ? eased(row) : row)) as [Vector, Vector, Vector];
    const whole = determinant(products);
    if (!(whole > SINGULAR * products[0][0] * products[1][1] * products[2][2])) return undefined;
    const solution = [0, 1, 2].map((column) => {
      const replaced = products.map((row, i) => row.with(column, this.sums[i] as number) as Vector);
      return determinant(replaced as [Vector, Vector, Vector]) / whole;
    });
    return solution as Vector;
  }
}

/** Returns the cost of all parts at these prices. */
export const priced = (a: Parts, b: Parts): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

const determinant = ([a, b, c]: readonly [Vector, Vector, Vector]): number =>
  a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
