// Tensors with random values, as plans for the GGUF writer. The same seed gives the same values.

import type { TensorPlan } from "../../vendor/gguf-writer.ts";
import { randomNumbers } from "../support/dice.ts";

/** Returns a number from -1 to 1. */
export type Random = () => number;

/** Returns a generator that gives the same numbers for the same seed. */
export function seeded(seed: number): Random {
  const next = randomNumbers(seed);
  return () => 2 * next() - 1;
}

/** Returns a tensor of any shape, fastest dimension first, with values of up to `scale`. */
export function tensor(name: string, dimensions: readonly number[], scale: number, random: Random): TensorPlan {
  const [columns = 1, ...rest] = dimensions;
  const rows = rest.reduce((product, size) => product * size, 1);
  // Generated now, so that the values do not depend on when the writer reads them.
  const values = Float32Array.from({ length: columns * rows }, () => scale * random());
  return { ...plan(name, columns, rows, values), ...(dimensions.length > 1 && { dimensions }) };
}

/** Returns values that keep activations near 1. */
export const matrix = (name: string, columns: number, rows: number, random: Random): TensorPlan =>
  tensor(name, [columns, rows], Math.sqrt(3 / columns), random);

/** Returns small values, for biases. */
export const vector = (name: string, size: number, random: Random): TensorPlan => tensor(name, [size], 0.1, random);

export const ones = (name: string, size: number): TensorPlan => plan(name, size, 1, new Float32Array(size).fill(1));

function plan(name: string, columns: number, rows: number, values: Float32Array): TensorPlan {
  return {
    name,
    type: "f32",
    columns,
    rows,
    fill: (bytes, firstRow, rowCount) => {
      const part = values.subarray(firstRow * columns, (firstRow + rowCount) * columns);
      bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    },
  };
}
