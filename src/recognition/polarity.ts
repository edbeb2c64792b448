// Turns light text on dark grounds into dark text on light ones: for the whole page, or for bands and boxes of it.

import type { Bitmap } from "./bitmap.ts";
import { clipped } from "./boxes.ts";
import { components, regions, type Component, type Runs } from "./components.ts";
import { crop } from "./resample.ts";
import { histogram, inkOf, inverted, split, type Ink } from "./ink.ts";

/** Pixels; a smaller box contains no text. */
const LEAST = { width: 24, height: 10 };
/** Minimum dark share of a box that is a ground and not a drawing. */
const SOLID = 0.5;
/** Minimum number of light regions in a ground with letters; a thick letter alone has fewer. */
const LETTERS = 3;
/** Side in pixels of an area that has a single ground. */
const PLACE = 48;
/** Minimum difference between the values of ink and ground. */
const CONTRAST = 40;

/** Returns the page with only dark text on light grounds. */
export function darkOnLight(bitmap: Bitmap): Bitmap {
  const { threshold, share } = split(histogram(bitmap));
  const isDark = share > 0.5 && isLightText(bitmap);
  const page = isDark ? inverted(bitmap) : bitmap;
  const ink = inkOf(page, isDark ? 254 - threshold : threshold);
  const runs = regions(ink);
  const grounds = components(runs, LEAST.width * LEAST.height * SOLID).filter((one) => isGround(one, page, ink));
  return grounds.length === 0 ? page : invertWithin(page, runs, grounds);
}

/** Returns whether most pixels that stand out locally are lighter than their surroundings. */
function isLightText(bitmap: Bitmap): boolean {
  let [darker, lighter] = [0, 0];
  for (let y = 0; y < bitmap.height; y += PLACE) {
    for (let x = 0; x < bitmap.width; x += PLACE) {
      const found = outstanding(crop(bitmap, clipped({ x, y, width: PLACE, height: PLACE }, bitmap)));
      darker += found.darker;
      lighter += found.lighter;
    }
  }
  return lighter > darker;
}

/** Counts the pixels that are much darker, and much lighter, than the median. */
function outstanding(part: Bitmap): { readonly darker: number; readonly lighter: number } {
  const counts = histogram(part);
  let [usual, upTo] = [0, counts[0] as number];
  while (upTo * 2 < part.data.length) upTo += counts[++usual] as number;
  const sum = (from: number, to: number) =>
    counts.subarray(Math.max(0, from), Math.max(0, to)).reduce((all, count) => all + count, 0);
  return { darker: sum(0, usual - CONTRAST), lighter: sum(usual + CONTRAST, 256) };
}

function isGround(one: Component, page: Bitmap, ink: Ink): boolean {
  if (one.width < LEAST.width || one.height < LEAST.height) return false;
  if (one.area < SOLID * one.width * one.height) return false;
  const light = crop(ink, one);
  for (let at = 0; at < light.data.length; at++) light.data[at] = 1 - (light.data[at] as number);
  const letters = components(regions(light), 4).filter(
    ({ x, y, width, height }) => x > 0 && y > 0 && x + width < one.width && y + height < one.height,
  );
  return letters.length >= LETTERS && !isShadow(crop(page, one));
}

/** Returns whether the ground is shaded paper with text, where what stands out is darker. */
function isShadow(ground: Bitmap): boolean {
  const { darker, lighter } = outstanding(ground);
  return 2 * darker > lighter;
}

/** Inverts each row of each ground from its first to its last dark pixel. */
function invertWithin({ width, height, data }: Bitmap, runs: Runs, grounds: readonly Component[]): Bitmap {
  const out = new Uint8Array(data);
  /** The last run of each ground so far. */
  const last = new Map(grounds.map(({ region }) => [region, { row: -1, end: 0 }]));
  for (let at = 0; at < runs.count; at++) {
    const before = last.get(runs.region[at] as number);
    if (before === undefined) continue;
    const row = runs.row[at] as number;
    const end = runs.end[at] as number;
    // Inverts the run together with the gap between it and the preceding one.
    let x = before.row === row ? before.end : (runs.start[at] as number);
    for (; x < end; x++) out[row * width + x] = 255 - (data[row * width + x] as number);
    before.row = row;
    before.end = end;
  }
  return { width, height, data: out };
}
