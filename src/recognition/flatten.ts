// Removes shadows and uneven light from a page.

import type { Bitmap } from "./bitmap.ts";

/** Quantile of a tile's values that counts as paper: even a page full of text is more than 15 % paper. */
const PAPER = 0.85;
/** Paper is even when its lightest and darkest parts differ by less than this value. */
const EVEN = 24;

/** One value per tile; tiles have `size` × `size` pixels, except for the last ones. */
interface Tiles {
  readonly size: number;
  readonly across: number;
  readonly down: number;
  readonly values: Float32Array;
}

/** Divides a page (dark on light) by the lightness of its paper around each pixel. Returns even pages unchanged. */
export function flatten(bitmap: Bitmap): Bitmap {
  const paper = smooth(extreme(extreme(lightness(bitmap), Math.max), Math.min));
  const sorted = paper.values.toSorted();
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 255;
  return at(0.98) - at(0.02) < EVEN ? bitmap : divide(bitmap, paper);
}

function lightness({ width, height, data }: Bitmap): Tiles {
  const size = Math.max(16, Math.ceil(Math.max(width, height) / 64));
  const [across, down] = [Math.ceil(width / size), Math.ceil(height / size)];
  const values = new Float32Array(across * down);
  const counts = new Uint32Array(256);
  for (let tile = 0; tile < values.length; tile++) {
    counts.fill(0);
    const left = (tile % across) * size;
    const top = Math.floor(tile / across) * size;
    const right = Math.min(width, left + size);
    const bottom = Math.min(height, top + size);
    for (let y = top; y < bottom; y++) {
      for (let at = y * width + left, end = y * width + right; at < end; at++) {
        const value = data[at] as number;
        counts[value] = (counts[value] as number) + 1;
      }
    }
    let rest = (right - left) * (bottom - top) * PAPER - (counts[0] as number);
    let value = 0;
    while (value < 255 && rest > 0) rest -= counts[++value] as number;
    values[tile] = value;
  }
  return { size, across, down, values };
}

/** Replaces each tile by the lightest, or the darkest, of itself and its eight neighbours. */
function extreme(tiles: Tiles, choose: (...values: number[]) => number): Tiles {
  return { ...tiles, values: tiles.values.map((_, at) => choose(...around(tiles, at))) };
}

function smooth(tiles: Tiles): Tiles {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return { ...tiles, values: tiles.values.map((_, at) => mean(around(tiles, at))) };
}

function around({ across, down, values }: Tiles, at: number): number[] {
  const [x, y] = [at % across, Math.floor(at / across)];
  const found: number[] = [];
  for (let row = Math.max(0, y - 1); row <= Math.min(down - 1, y + 1); row++) {
    for (let column = Math.max(0, x - 1); column <= Math.min(across - 1, x + 1); column++) {
      found.push(values[row * across + column] as number);
    }
  }
  return found;
}

function divide({ width, height, data }: Bitmap, { size, across, down, values }: Tiles): Bitmap {
  const out = new Uint8Array(data.length);
  /** The tile whose middle precedes the pixel, and the pixel's place between it and the next middle, 0 to 1. */
  const place = (pixel: number, tiles: number): [number, number] => {
    const exact = Math.max(0, Math.min(tiles - 1, (pixel + 0.5) / size - 0.5));
    const before = Math.min(Math.floor(exact), Math.max(0, tiles - 2));
    return [before, exact - before];
  };
  const columns = Array.from({ length: width }, (_, x) => place(x, across));
  const left = Uint16Array.from(columns, ([tile]) => tile);
  const share = Float32Array.from(columns, ([, part]) => part);
  const row = new Float32Array(across);
  for (let y = 0, at = 0; y < height; y++) {
    const [above, part] = place(y, down);
    const below = Math.min(down - 1, above + 1);
    for (let tile = 0; tile < across; tile++) {
      const high = values[above * across + tile] as number;
      row[tile] = high + part * ((values[below * across + tile] as number) - high);
    }
    for (let x = 0; x < width; x++, at++) {
      const tile = left[x] as number;
      const low = row[tile] as number;
      const next = tile + 1 < across ? (row[tile + 1] as number) : low;
      const paper = low + (share[x] as number) * (next - low);
      out[at] = Math.min(255, ((data[at] as number) * 255) / Math.max(1, paper));
    }
  }
  return { width, height, data: out };
}
