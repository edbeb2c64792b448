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
/** Maximum dark share of the rows above and below a band of a table: only the rules between its columns go on there. */
const BESIDE = 0.3;
/** Distance of these rows in pixels. */
const BORDER = 3;
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
  const dark = components(runs, LEAST.width * LEAST.height * SOLID).filter(isLarge);
  const whole = dark.filter(isSolid).map((one) => ({ ...one, isBand: false }));
  const bands = bandsOf(
    dark.filter((one) => !isSolid(one)),
    runs,
  );
  const grounds = [...whole, ...bands].filter((one) => isGround(one, page, ink));
  return grounds.length === 0 ? page : invertWithin(page, runs, grounds);
}

/** A dark area with light text. */
interface Ground extends Component {
  /** Whether it is part of a component that is mostly light, such as the head of a table with rules. */
  readonly isBand: boolean;
}

const isLarge = ({ width, height }: Component): boolean => width >= LEAST.width && height >= LEAST.height;
const isSolid = ({ area, width, height }: Component): boolean => area >= SOLID * width * height;

/** Returns the bands of rows in which components are dark from side to side. */
function bandsOf(found: readonly Component[], runs: Runs): Ground[] {
  // There may be tens of thousands of components, so each has counts only for its own rows.
  const rows = new Map(found.map((one) => [one.region, { top: one.y, counts: new Uint32Array(one.height) }]));
  for (let at = 0; at < runs.count; at++) {
    const own = rows.get(runs.region[at] as number);
    if (!own) continue;
    const row = (runs.row[at] as number) - own.top;
    own.counts[row] = (own.counts[row] as number) + (runs.end[at] as number) - (runs.start[at] as number);
  }
  return found.flatMap((one) => {
    const counts = rows.get(one.region)?.counts ?? new Uint32Array();
    const shareOf = (row: number) => (counts[row] ?? 0) / one.width;
    const bands: Ground[] = [];
    for (let row = 0; row < one.height; row++) {
      const start = row;
      let area = 0;
      for (; row < one.height && shareOf(row) >= SOLID; row++) area += shareOf(row) * one.width;
      const height = row - start;
      const isAlone = shareOf(start - BORDER) < BESIDE && shareOf(row - 1 + BORDER) < BESIDE;
      if (height >= LEAST.height && isAlone) bands.push({ ...one, y: one.y + start, height, area, isBand: true });
    }
    return bands;
  });
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

/** Returns the median of `count` values. */
function medianOf(counts: Uint32Array, count: number): number {
  let [value, upTo] = [0, counts[0] as number];
  while (upTo * 2 < count) upTo += counts[++value] as number;
  return value;
}

/** Counts the pixels that are much darker, and much lighter, than the median. */
function outstanding(part: Bitmap): { readonly darker: number; readonly lighter: number } {
  const counts = histogram(part);
  const usual = medianOf(counts, part.data.length);
  const sum = (from: number, to: number) =>
    counts.subarray(Math.max(0, from), Math.max(0, to)).reduce((all, count) => all + count, 0);
  return { darker: sum(0, usual - CONTRAST), lighter: sum(usual + CONTRAST, 256) };
}

function isGround(one: Component, page: Bitmap, ink: Ink): boolean {
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
function invertWithin(page: Bitmap, runs: Runs, grounds: readonly Ground[]): Bitmap {
  const { width, height, data } = page;
  const out = new Uint8Array(data);
  const byRegion = new Map<
    number,
    { readonly ground: Ground; readonly values: Uint8Array; row: number; end: number }[]
  >();
  for (const ground of grounds) {
    const values = ground.isBand
      ? withRules(crop(page, ground))
      : Uint8Array.from({ length: 256 }, (_, value) => 255 - value);
    // The last run of the ground so far is none.
    byRegion.set(ground.region, [...(byRegion.get(ground.region) ?? []), { ground, values, row: -1, end: 0 }]);
  }
  for (let at = 0; at < runs.count; at++) {
    const row = runs.row[at] as number;
    const before = byRegion
      .get(runs.region[at] as number)
      ?.find(({ ground }) => row >= ground.y && row < ground.y + ground.height);
    if (before === undefined) continue;
    const end = runs.end[at] as number;
    // Inverts the run together with the gap between it and the preceding one.
    let x = before.row === row ? before.end : (runs.start[at] as number);
    for (; x < end; x++) out[row * width + x] = before.values[data[row * width + x] as number] as number;
    before.row = row;
    before.end = end;
  }
  return { width, height, data: out };
}

/** Returns the inverted value of each value in a band: rules, which are darker than the band, stay dark. */
function withRules(band: Bitmap): Uint8Array {
  const ground = medianOf(histogram(band), band.data.length);
  return Uint8Array.from({ length: 256 }, (_, value) => {
    if (value < ground / 2) return (510 * value) / ground;
    return Math.min(255, (255 * (255 - value)) / (255 - ground));
  });
}
