// Light text on dark grounds, made dark on light: the whole page, or bands and boxes of it.

import type { Bitmap } from "./bitmap.ts";
import { components, regions, type Component, type Runs } from "./components.ts";
import { histogram, inkOf, inverted, split, type Ink } from "./ink.ts";

/** Pixels: a smaller box holds no text. */
const LEAST = { width: 24, height: 10 };
/** Share of a box that is dark where it is a ground and no drawing. */
const SOLID = 0.5;
/** Light regions in a ground: so many are letters on it; a thick letter has fewer. */
const LETTERS = 3;

/** The page with dark text on light grounds only. */
export function darkOnLight(bitmap: Bitmap): Bitmap {
  const { threshold, share } = split(histogram(bitmap));
  const page = share > 0.5 ? inverted(bitmap) : bitmap;
  const ink = inkOf(page, share > 0.5 ? 254 - threshold : threshold);
  const runs = regions(ink);
  const grounds = components(runs, LEAST.width * LEAST.height * SOLID).filter((one) => isGround(one, ink));
  return grounds.length === 0 ? page : invertWithin(page, runs, grounds);
}

function isGround(one: Component, ink: Ink): boolean {
  if (one.width < LEAST.width || one.height < LEAST.height) return false;
  if (one.area < SOLID * one.width * one.height) return false;
  const light = new Uint8Array(one.width * one.height);
  for (let y = 0, at = 0; y < one.height; y++) {
    for (let x = 0; x < one.width; x++, at++) {
      light[at] = 1 - (ink.data[(one.y + y) * ink.width + one.x + x] as number);
    }
  }
  const holes = components(regions({ width: one.width, height: one.height, data: light }), 4).filter(
    ({ x, y, width, height }) => x > 0 && y > 0 && x + width < one.width && y + height < one.height,
  );
  return holes.length >= LETTERS;
}

/** Inverts every row of each ground from its first dark pixel to its last one. */
function invertWithin({ width, height, data }: Bitmap, runs: Runs, grounds: readonly Component[]): Bitmap {
  const out = new Uint8Array(data);
  /** The last run of each ground. */
  const last = new Map(grounds.map(({ region }) => [region, { row: -1, end: 0 }]));
  for (let at = 0; at < runs.count; at++) {
    const before = last.get(runs.region[at] as number);
    if (before === undefined) continue;
    const row = runs.row[at] as number;
    const end = runs.end[at] as number;
    // With a run goes what lies between it and the one before it.
    let x = before.row === row ? before.end : (runs.start[at] as number);
    for (; x < end; x++) out[row * width + x] = 255 - (data[row * width + x] as number);
    before.row = row;
    before.end = end;
  }
  return { width, height, data: out };
}
