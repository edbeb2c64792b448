// Fixed polynomial predictors for sound, and Rice codes for their errors.

import type { BitWriter } from "./bit-writer.ts";

const HIGHEST_ORDER = 4;
const MOST_PARTITION_BITS = 5;
/** 15 would announce uncoded numbers. */
const HIGHEST_PARAMETER = 14;
/** Coding method with four-bit parameters. */
const RICE = 0;

interface Residual {
  /** Number of preceding samples that the polynomial needs; these are written uncoded. */
  readonly order: number;
  /** Prediction errors of the other samples. */
  readonly values: Int32Array;
}

/** Selects the polynomial with the smallest errors. */
export function bestResidual(samples: Int16Array): Residual {
  let values = Int32Array.from(samples);
  let best: Residual = { order: 0, values };
  let least = sumOf(values);
  for (let order = 1; order <= Math.min(HIGHEST_ORDER, samples.length - 1); order++) {
    values = differences(values);
    const sum = sumOf(values);
    if (sum < least) [least, best] = [sum, { order, values }];
  }
  return best;
}

const differences = (values: Int32Array): Int32Array<ArrayBuffer> =>
  values.subarray(1).map((value, at) => value - (values[at] ?? 0));

const sumOf = (values: Int32Array): number => values.reduce((sum, value) => sum + Math.abs(value), 0);

/** A parameter for each of 1, 2, 4, … equal parts of a block. */
type RiceCodes = readonly number[];

/** Selects the parts and parameters that need the fewest bits for the residual of a block of `samples`. */
export function riceCodes(values: Int32Array, samples: number, order: number): RiceCodes {
  let best: RiceCodes = [];
  let least = Infinity;
  for (let bits = 0; bits <= MOST_PARTITION_BITS; bits++) {
    const size = samples / 2 ** bits;
    if (!Number.isInteger(size) || size <= order) break;
    const parts = partsOf(values, 2 ** bits, order).map(bestParameter);
    const cost = parts.reduce((sum, part) => sum + part.bits, 0);
    if (cost < least) [least, best] = [cost, parts.map(({ parameter }) => parameter)];
  }
  return best;
}

/** Appends the residual of a block: its division into parts, and their codes. */
export function writeRice(bits: BitWriter, values: Int32Array, order: number, codes: RiceCodes): void {
  bits.write(RICE, 2);
  bits.write(Math.log2(codes.length), 4);
  for (const [at, part] of partsOf(values, codes.length, order).entries()) {
    const parameter = codes[at] ?? 0;
    bits.write(parameter, 4);
    for (const value of part) {
      const folded = fold(value);
      bits.writeUnary(folded >>> parameter);
      bits.write(folded, parameter);
    }
  }
}

/** Divides the residual; the first part is shorter by the uncoded samples. */
function partsOf(values: Int32Array, count: number, order: number): Int32Array[] {
  const size = (values.length + order) / count;
  return Array.from({ length: count }, (_, at) =>
    values.subarray(Math.max(0, at * size - order), (at + 1) * size - order),
  );
}

/** Tries the parameter of half the mean and its neighbours, near which the lowest cost is. */
function bestParameter(values: Int32Array) {
  const mean = sumOf(values) / values.length;
  const guess = Math.max(1, Math.min(HIGHEST_PARAMETER - 1, Math.floor(Math.log2(mean + 1))));
  let best = { parameter: 0, bits: Infinity };
  for (const parameter of [guess - 1, guess, guess + 1]) {
    let bits = 4 + values.length * (parameter + 1);
    for (const value of values) bits += fold(value) >>> parameter;
    if (bits < best.bits) best = { parameter, bits };
  }
  return best;
}

/** Maps 0, -1, 1, -2, … to 0, 1, 2, 3, … */
const fold = (value: number): number => (value << 1) ^ (value >> 31);
