// Guesses the pronunciation of words that no dictionary has: a small transformer that reads letters and writes a few
// phonemes for each. It has 0.65 million weights and runs without quantization.

import type { UnknownWordTables } from "./tables.ts";

const LAYERS = 4;
const WIDTH = 128;
const HEADS = 4;
const HEAD = WIDTH / HEADS;
const INNER = 384;
const EPSILON = 1e-5;

/** The weights in the order of the file; matrices are [in, out]. */
interface Layer {
  readonly norm1: Norm;
  readonly attention: Linear;
  readonly out: Linear;
  readonly norm2: Norm;
  readonly linear1: Linear;
  readonly linear2: Linear;
}

interface Norm {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

interface Linear {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

export class UnknownWords {
  readonly #tables: UnknownWordTables;
  readonly #letters: ReadonlyMap<string, number>;
  readonly #embedding: Float32Array;
  readonly #positions: Float32Array;
  readonly #layers: readonly Layer[];
  readonly #norm: Norm;
  readonly #head: Linear;

  /** `weights`: single-precision numbers, little-endian. Throws when their number is not that of the network. */
  constructor(tables: UnknownWordTables, weights: Uint8Array) {
    this.#tables = tables;
    this.#letters = new Map(tables.in.map((letter, at) => [letter, at + 1]));
    // The copy is aligned as Float32Array requires.
    const numbers = new Float32Array(new Uint8Array(weights).buffer);
    let at = 0;
    const take = (length: number): Float32Array => numbers.subarray(at, (at += length));
    const norm = (): Norm => ({ weight: take(WIDTH), bias: take(WIDTH) });
    const linear = (from: number, to: number): Linear => ({ weight: take(from * to), bias: take(to) });
    this.#embedding = take((tables.in.length + 1) * WIDTH);
    this.#positions = take(tables.maxlen * WIDTH);
    this.#layers = Array.from({ length: LAYERS }, () => ({
      norm1: norm(),
      attention: linear(WIDTH, 3 * WIDTH),
      out: linear(WIDTH, WIDTH),
      norm2: norm(),
      linear1: linear(WIDTH, INNER),
      linear2: linear(INNER, WIDTH),
    }));
    this.#norm = norm();
    this.#head = linear(WIDTH, tables.slots * (tables.out.length + 1));
    if (at !== numbers.length) throw new Error(`the net for unknown words has ${numbers.length} weights, not ${at}`);
  }

  /** Returns a word's phonemes, a long one's in equal parts; undefined when it has no known letter. */
  phonemes(word: string): string | undefined {
    const letters = Array.from(word).flatMap((letter) => this.#letters.get(letter) ?? []);
    if (letters.length === 0) return undefined;
    const most = Math.ceil(letters.length / Math.ceil(letters.length / this.#tables.maxlen));
    const ids: number[] = [];
    for (let at = 0; at < letters.length; at += most) ids.push(...this.#outputs(letters.slice(at, at + most)));
    // Repeated ids are one phoneme; 0 separates two equal phonemes, and stands for silence.
    return ids.map((id, at) => (id === 0 || id === ids[at - 1] ? "" : (this.#tables.out[id - 1] ?? ""))).join("");
  }

  /** Returns the likeliest phoneme in each slot of each letter. */
  #outputs(letters: readonly number[]): number[] {
    const count = letters.length;
    let hidden = new Float32Array(count * WIDTH);
    for (const [row, letter] of letters.entries()) {
      for (let i = 0; i < WIDTH; i += 1) {
        hidden[row * WIDTH + i] = at(this.#embedding, letter * WIDTH + i) + at(this.#positions, row * WIDTH + i);
      }
    }
    for (const layer of this.#layers) {
      const mixed = attend(linear(normalized(hidden, layer.norm1), layer.attention), count);
      hidden = sum(hidden, linear(mixed, layer.out));
      const inner = linear(normalized(hidden, layer.norm2), layer.linear1).map(gelu);
      hidden = sum(hidden, linear(inner, layer.linear2));
    }
    const logits = linear(normalized(hidden, this.#norm), this.#head);
    const choices = this.#tables.out.length + 1;
    return Array.from({ length: count * this.#tables.slots }, (_, slot) => {
      const scores = logits.subarray(slot * choices, (slot + 1) * choices);
      return scores.indexOf(Math.max(...scores));
    });
  }
}

const at = (values: Float32Array, index: number): number => values[index] ?? 0;

const sum = (a: Float32Array, b: Float32Array): Float32Array<ArrayBuffer> =>
  Float32Array.from(a, (v, i) => v + at(b, i));

/** Returns each row of `values` times the matrix, plus the bias. */
function linear(values: Float32Array, { weight, bias }: Linear): Float32Array<ArrayBuffer> {
  const to = bias.length;
  const from = weight.length / to;
  const rows = values.length / from;
  const result = new Float32Array(rows * to);
  for (let row = 0; row < rows; row += 1) {
    const start = row * to;
    result.set(bias, start);
    // Four inputs at once, so that sums are read and written less often; all widths are multiples of four.
    for (let i = 0; i < from; i += 4) {
      const cell = row * from + i;
      const a = at(values, cell);
      const b = at(values, cell + 1);
      const c = at(values, cell + 2);
      const d = at(values, cell + 3);
      for (let o = 0, w = i * to; o < to; o += 1, w += 1) {
        const added =
          a * at(weight, w) + b * at(weight, w + to) + c * at(weight, w + 2 * to) + d * at(weight, w + 3 * to);
        result[start + o] = at(result, start + o) + added;
      }
    }
  }
  return result;
}

/** Normalizes rows to mean 0 and variance 1, then scales and shifts them. */
function normalized(values: Float32Array, { weight, bias }: Norm): Float32Array {
  const result = new Float32Array(values.length);
  for (let start = 0; start < values.length; start += WIDTH) {
    const row = values.subarray(start, start + WIDTH);
    const mean = row.reduce((total, value) => total + value, 0) / WIDTH;
    const variance = row.reduce((total, value) => total + (value - mean) ** 2, 0) / WIDTH;
    const scale = 1 / Math.sqrt(variance + EPSILON);
    for (let i = 0; i < WIDTH; i += 1) result[start + i] = (at(row, i) - mean) * scale * at(weight, i) + at(bias, i);
  }
  return result;
}

/** Computes the attention of every letter to all letters; each row contains its queries, keys and values. */
function attend(rows: Float32Array, count: number): Float32Array {
  const result = new Float32Array(count * WIDTH);
  const dot = (query: number, key: number): number => {
    let total = 0;
    for (let i = 0; i < HEAD; i += 1) total += at(rows, query + i) * at(rows, key + i);
    return total / Math.sqrt(HEAD);
  };
  for (let head = 0; head < HEADS; head += 1) {
    const offset = head * HEAD;
    for (let row = 0; row < count; row += 1) {
      const scores = Array.from({ length: count }, (_, other) =>
        dot(row * 3 * WIDTH + offset, other * 3 * WIDTH + WIDTH + offset),
      );
      const largest = Math.max(...scores);
      const parts = scores.map((score) => Math.exp(score - largest));
      const total = parts.reduce((all, part) => all + part, 0);
      for (const [other, part] of parts.entries()) {
        const value = other * 3 * WIDTH + 2 * WIDTH + offset;
        for (let i = 0; i < HEAD; i += 1) {
          const cell = row * WIDTH + offset + i;
          result[cell] = at(result, cell) + (part / total) * at(rows, value + i);
        }
      }
    }
  }
  return result;
}

const gelu = (value: number): number => 0.5 * value * (1 + erf(value / Math.SQRT2));

/** The error function, by Chebyshev's approximation of its complement, accurate to 1.2e-7. */
function erf(x: number): number {
  const t = 1 / (1 + 0.5 * Math.abs(x));
  let series = 0;
  for (const coefficient of ERF) series = series * t + coefficient;
  const rest = t * Math.exp(-x * x + series);
  return x >= 0 ? 1 - rest : rest - 1;
}

const ERF = [
  0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
  -1.26551223,
];
