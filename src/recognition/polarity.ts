// Light text on dark grounds, made dark on light: the whole page, or bands and boxes of it.

import type { Bitmap } from "./bitmap.ts";
import { clipped } from "./boxes.ts";
import { components, regions, type Component, type Runs } from "./components.ts";
import { crop } from "./resample.ts";
import { histogram, inkOf, inverted, split, type Ink } from "./ink.ts";

/** Pixels: a smaller box holds no text. */
const LEAST = { width: 24, height: 10 };
/** Share of a box that is dark where it is a ground and no drawing. */
const SOLID = 0.5;
/** Light regions in a ground: so many are letters on it; a thick letter has fewer. */
const LETTERS = 3;
/** Pixels: the side of a place that has one ground. */
const PLACE = 48;
/** Values that differ by so much are ink and ground. */
const CONTRAST = 40;

/** The page with dark text on light grounds only. */
export function darkOnLight(bitmap: Bitmap): Bitmap {
  const { threshold, share } = split(histogram(bitmap));
  const isDark = share > 0.5 && isLightText(bitmap);
  const page = isDark ? inverted(bitmap) : bitmap;
  const ink = inkOf(page, isDark ? 254 - threshold : threshold);
  const runs = regions(ink);
  const grounds = components(runs, LEAST.width * LEAST.height * SOLID).filter((one) => isGround(one, page, ink));
  return grounds.length === 0 ? page : invertWithin(page, runs, grounds);
}

/** Whether what stands out from place to place is mostly lighter than what is around it. */
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

/** How many pixels are much darker, and much lighter, than most of them. */
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

/** Paper in the shade, with text: what stands out of it is darker. */
function isShadow(ground: Bitmap): boolean {
  const { darker, lighter } = outstanding(ground);
  return 2 * darker > lighter;
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
