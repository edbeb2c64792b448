// Decides which pixels of a bitmap are ink.

import type { Bitmap } from "./bitmap.ts";

/** A bitmap whose pixels are 1 for ink, else 0. */
export type Ink = Bitmap;

/** Returns the number of pixels with each of the 256 values. */
export function histogram({ data }: Bitmap): Uint32Array {
  const counts = new Uint32Array(256);
  for (let at = 0; at < data.length; at++) {
    const value = data[at] as number;
    counts[value] = (counts[value] as number) + 1;
  }
  return counts;
}

interface Split {
  /** Maximum value that counts as dark. */
  readonly threshold: number;
  /** Means of the dark and the light values. */
  readonly dark: number;
  readonly light: number;
  /** Share of dark pixels. */
  readonly share: number;
}

/** Splits values into dark and light ones so that both groups vary as little as possible (Otsu's method). */
export function split(counts: Uint32Array): Split {
  let [total, sum] = [0, 0];
  for (let value = 0; value < 256; value++) {
    total += counts[value] as number;
    sum += value * (counts[value] as number);
  }
  let best: Split = { threshold: 127, dark: 0, light: 255, share: 0 };
  let [most, below, belowSum] = [0, 0, 0];
  for (let value = 0; value < 255; value++) {
    below += counts[value] as number;
    belowSum += value * (counts[value] as number);
    if (below === 0 || below === total) continue;
    const dark = belowSum / below;
    const light = (sum - belowSum) / (total - below);
    const between = below * (total - below) * (light - dark) ** 2;
    if (between <= most) continue;
    most = between;
    best = { threshold: value, dark, light, share: below / total };
  }
  // Without this, when few values lie between, the soft edges of strokes would all count as light.
  return { ...best, threshold: Math.max(best.threshold, Math.floor((best.dark + best.light) / 2)) };
}

/** Returns the pixels with values up to `threshold`. */
export function inkOf({ width, height, data }: Bitmap, threshold: number): Ink {
  const ink = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at++) ink[at] = (data[at] as number) <= threshold ? 1 : 0;
  return { width, height, data: ink };
}

/** Returns the bitmap with light and dark exchanged. */
export function inverted({ width, height, data }: Bitmap): Bitmap {
  const out = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at++) out[at] = 255 - (data[at] as number);
  return { width, height, data: out };
}
