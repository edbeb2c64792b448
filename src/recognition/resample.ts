// Scales, turns and rectifies bitmaps.

import type { Box } from "../domain/recognition.ts";
import type { Bitmap } from "./bitmap.ts";
import type { Projection } from "./projection.ts";

/** Shrinks a bitmap: each pixel is the mean of `factor` × `factor` pixels; the remainder at the edges is cut off. */
export function shrink(bitmap: Bitmap, factor: number): Bitmap {
  if (factor === 1) return bitmap;
  const width = Math.max(1, Math.floor(bitmap.width / factor));
  const height = Math.max(1, Math.floor(bitmap.height / factor));
  const [across, down] = [Math.min(bitmap.width, width * factor), Math.min(bitmap.height, height * factor)];
  const isWhole = across === bitmap.width && down === bitmap.height;
  return resize(isWhole ? bitmap : crop(bitmap, { x: 0, y: 0, width: across, height: down }), width, height);
}

/** Returns the part of a bitmap in a box within it. */
export function crop(bitmap: Bitmap, { x, y, width, height }: Box): Bitmap {
  const out = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    const from = (y + row) * bitmap.width + x;
    out.set(bitmap.data.subarray(from, from + width), row * width);
  }
  return { width, height, data: out };
}

/** Scales a whole bitmap to any smaller or equal size; every pixel is the mean of those it covers. */
export function resize(bitmap: Bitmap, width: number, height: number): Bitmap {
  const { data } = bitmap;
  const out = new Uint8Array(width * height);
  const edge = (at: number, size: number, of: number) => Math.floor((at * of) / size);
  for (let y = 0; y < height; y++) {
    const top = edge(y, height, bitmap.height);
    const bottom = Math.max(top + 1, edge(y + 1, height, bitmap.height));
    for (let x = 0; x < width; x++) {
      const left = edge(x, width, bitmap.width);
      const right = Math.max(left + 1, edge(x + 1, width, bitmap.width));
      let sum = 0;
      for (let row = top; row < bottom; row++) {
        for (let at = row * bitmap.width + left, end = at + right - left; at < end; at++) sum += data[at] as number;
      }
      out[y * width + x] = sum / ((bottom - top) * (right - left)) + 0.5;
    }
  }
  return { width, height, data: out };
}

/**
 * Creates a bitmap of this size. `projection` maps its points to `bitmap`, where values between pixels come from the
 * cubic curve through four of them (Catmull-Rom). Points outside are `ground`.
 */
export function warp(bitmap: Bitmap, projection: Projection, width: number, height: number, ground: number): Bitmap {
  const [a, b, c, d, e, f, g, h, i] = projection;
  if (b === 0 && d === 0 && g === 0 && h === 0) {
    const across = taps(bitmap.width, width, a / i, c / i);
    return stretch(bitmap, across, taps(bitmap.height, height, e / i, f / i), ground);
  }
  const out = new Uint8Array(width * height);
  const sample = sampler(bitmap, ground);
  for (let y = 0, at = 0; y < height; y++) {
    const py = y + 0.5;
    for (let x = 0; x < width; x++, at++) {
      const px = x + 0.5;
      const w = g * px + h * py + i;
      out[at] = sample((a * px + b * py + c) / w - 0.5, (d * px + e * py + f) / w - 0.5);
    }
  }
  return { width, height, data: out };
}

/** The source pixels of each pixel of a row or column. */
interface Taps {
  readonly count: number;
  /** The first of four source pixels; some may lie outside. */
  readonly first: Int32Array;
  /** Weights of the four. */
  readonly weights: Float32Array;
}

/** Computes `count` pixels out of `size`, whose middles are at `scale` × theirs + `offset`. */
function taps(size: number, count: number, scale: number, offset: number): Taps {
  const curve = weights();
  const first = new Int32Array(count);
  const parts = new Float32Array(4 * count);
  for (let at = 0; at < count; at++) {
    const place = Math.min(size + 1, Math.max(-3, scale * (at + 0.5) + offset - 0.5));
    const before = Math.floor(place);
    const step = Math.floor((place - before) * STEPS + 0.5) * 4;
    first[at] = before - 1;
    parts.set(curve.subarray(step, step + 4), 4 * at);
  }
  return { count, first, weights: parts };
}

/** Scales rows and columns separately: without rotation or perspective, this needs a quarter of the sums. */
function stretch({ width, height, data }: Bitmap, across: Taps, down: Taps, ground: number): Bitmap {
  const out = new Uint8Array(across.count * down.count);
  /** The last four stretched rows, each at its number modulo 4. */
  const rows = [0, 1, 2, 3].map(() => ({ row: Number.NaN, values: new Float32Array(across.count) }));
  const padded = new Uint8Array(width + 8).fill(ground);
  const stretched = (y: number): Float32Array => {
    const kept = rows[y & 3] as (typeof rows)[number];
    if (kept.row === y) return kept.values;
    kept.row = y;
    if (y < 0 || y >= height) return kept.values.fill(ground);
    padded.set(data.subarray(y * width, (y + 1) * width), 4);
    for (let x = 0, tap = 0; x < across.count; x++, tap += 4) {
      const from = (across.first[x] as number) + 4;
      const near =
        (padded[from + 1] as number) * (across.weights[tap + 1] as number) +
        (padded[from + 2] as number) * (across.weights[tap + 2] as number);
      const far =
        (padded[from] as number) * (across.weights[tap] as number) +
        (padded[from + 3] as number) * (across.weights[tap + 3] as number);
      kept.values[x] = near + far;
    }
    return kept.values;
  };
  for (let y = 0, at = 0; y < down.count; y++) {
    const first = down.first[y] as number;
    const [one, two, three, four] = [
      stretched(first),
      stretched(first + 1),
      stretched(first + 2),
      stretched(first + 3),
    ];
    const [a = 0, b = 0, c = 0, d = 0] = down.weights.subarray(4 * y, 4 * y + 4);
    for (let x = 0; x < across.count; x++, at++) {
      const near = (two[x] as number) * b + (three[x] as number) * c;
      const sum = (one[x] as number) * a + near + (four[x] as number) * d;
      out[at] = sum < 0 ? 0 : sum > 255 ? 255 : (sum + 0.5) | 0;
    }
  }
  return { width: across.count, height: down.count, data: out };
}

/** Number of fractions of a pixel with weights of their own. */
const STEPS = 64;

/** Returns four weights for each fraction of a pixel. */
const weights = (): Float32Array =>
  Float32Array.from({ length: 4 * (STEPS + 1) }, (_, at) => {
    const t = Math.floor(at / 4) / STEPS;
    const tap = at % 4;
    if (tap === 0) return ((2 - t) * t - 1) * t * 0.5;
    if (tap === 1) return ((3 * t - 5) * t * t + 2) * 0.5;
    if (tap === 2) return ((4 - 3 * t) * t + 1) * t * 0.5;
    return (t - 1) * t * t * 0.5;
  });

/** Returns a function for the value at a point; the middle of the first pixel is at 0. */
function sampler({ width, height, data }: Bitmap, ground: number): (x: number, y: number) => number {
  const curve = weights();
  const at = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height ? ground : (data[y * width + x] as number);
  const row = new Float32Array(4);
  return (x, y) => {
    if (!(x > -1 && y > -1 && x < width && y < height)) return ground;
    // Faster than Math.floor, and equivalent above -1.
    const left = ((x + 1) | 0) - 1;
    const top = ((y + 1) | 0) - 1;
    const across = (((x - left) * STEPS + 0.5) | 0) * 4;
    const down = (((y - top) * STEPS + 0.5) | 0) * 4;
    const a = curve[across] as number;
    const b = curve[across + 1] as number;
    const c = curve[across + 2] as number;
    const d = curve[across + 3] as number;
    if (left > 0 && top > 0 && left + 2 < width && top + 2 < height) {
      let from = (top - 1) * width + left - 1;
      for (let tap = 0; tap < 4; tap++, from += width) {
        const near = (data[from + 1] as number) * b + (data[from + 2] as number) * c;
        row[tap] = (data[from] as number) * a + near + (data[from + 3] as number) * d;
      }
    } else {
      for (let tap = 0, y0 = top - 1; tap < 4; tap++, y0++) {
        row[tap] = at(left - 1, y0) * a + at(left, y0) * b + at(left + 1, y0) * c + at(left + 2, y0) * d;
      }
    }
    const high = (row[0] as number) * (curve[down] as number) + (row[1] as number) * (curve[down + 1] as number);
    const low = (row[2] as number) * (curve[down + 2] as number) + (row[3] as number) * (curve[down + 3] as number);
    const sum = high + low;
    return sum < 0 ? 0 : sum > 255 ? 255 : (sum + 0.5) | 0;
  };
}
