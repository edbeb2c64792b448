// Which pixels of a bitmap are ink.

import type { Bitmap } from "./bitmap.ts";

/** The size of a bitmap, and a byte a pixel: 1 where there is ink, else 0. */
export type Ink = Bitmap;

/** How many pixels there are of each of the 256 values. */
export function histogram({ data }: Bitmap): Uint32Array {
  const counts = new Uint32Array(256);
  for (let at = 0; at < data.length; at++) {
    const value = data[at] as number;
    counts[value] = (counts[value] as number) + 1;
  }
  return counts;
}

interface Split {
  /** Values up to this one are dark. */
  readonly threshold: number;
  /** The means of both sides. */
  readonly dark: number;
  readonly light: number;
  /** Share of the pixels that are dark. */
  readonly share: number;
}

/** Parts values into dark and light ones so that both sides are as even as can be (Otsu's method). */
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
  // With few values in between, soft edges of strokes would else all be light.
  return { ...best, threshold: Math.max(best.threshold, Math.floor((best.dark + best.light) / 2)) };
}

/** The pixels up to a value. */
export function inkOf({ width, height, data }: Bitmap, threshold: number): Ink {
  const ink = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at++) ink[at] = (data[at] as number) <= threshold ? 1 : 0;
  return { width, height, data: ink };
}

/** The bitmap with dark for light. */
export function inverted({ width, height, data }: Bitmap): Bitmap {
  const out = new Uint8Array(data.length);
  for (let at = 0; at < data.length; at++) out[at] = 255 - (data[at] as number);
  return { width, height, data: out };
}
