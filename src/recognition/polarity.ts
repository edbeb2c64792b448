// Makes all text dark on light ground, on the whole page or in bands and boxes of it: inverts light text on dark grounds,
// and brightens grounds under dark text.

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
/** Minimum number of regions that stand out in a ground with letters; a thick letter alone has fewer. */
const LETTERS = 3;
/** Pixels; a smaller region is a speck. */
const SMALLEST = 4;
/** Minimum ratio between what stands out in the colour of the text and in the opposite one. */
const CLEAR = 2;
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
  const bands = bandsOf(
    dark.filter((one) => !isSolid(one)),
    runs,
  );
  const grounds = [...dark.filter(isSolid), ...bands].flatMap((one) => {
    const values = clearedValues(one, page, ink);
    return values ? [{ ...one, values }] : [];
  });
  return grounds.length === 0 ? page : clearedWithin(page, runs, grounds);
}

/** A dark area that may have text. */
interface Area extends Component {
  /** Whether it is part of a component that is mostly light, such as the head of a table with rules. */
  readonly isBand?: true;
}

/** A dark area with text. */
interface Ground extends Area {
  /** The new value of each value, for dark text on a light ground. */
  readonly values: Uint8Array;
}

const isLarge = ({ width, height }: Component): boolean => width >= LEAST.width && height >= LEAST.height;
const isSolid = ({ area, width, height }: Component): boolean => area >= SOLID * width * height;

/** Returns the bands of rows in which components are dark from side to side. */
function bandsOf(found: readonly Component[], runs: Runs): Area[] {
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
    const bands: Area[] = [];
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

/** Returns the new value of each value in a dark area; undefined when no text is clear there. */
function clearedValues(one: Area, page: Bitmap, ink: Ink): Uint8Array | undefined {
  const part = crop(page, one);
  const ground = medianOf(histogram(part), part.data.length);
  const darker = enclosed(inkOf(part, ground - CONTRAST));
  const lighter = enclosed(inkOf(inverted(part), 255 - ground - CONTRAST));
  if (areaOf(lighter) >= CLEAR * areaOf(darker)) {
    const light = enclosed(withoutInk(crop(ink, one)));
    return light.length >= LETTERS ? lightText(ground, one.isBand === true) : undefined;
  }
  if (darker.length < LETTERS || areaOf(darker) < CLEAR * areaOf(lighter)) return undefined;
  return Uint8Array.from({ length: 256 }, (_, value) => Math.min(255, (255 * value) / ground));
}

/** Returns the regions that do not reach the sides: the corners of a round box are not part of it. */
const enclosed = (found: Ink): Component[] =>
  components(regions(found), SMALLEST).filter(
    ({ x, y, width, height }) => x > 0 && y > 0 && x + width < found.width && y + height < found.height,
  );

const withoutInk = ({ width, height, data }: Ink): Ink => ({ width, height, data: data.map((value) => 1 - value) });

const areaOf = (found: readonly Component[]): number => found.reduce((sum, { area }) => sum + area, 0);

/** Returns the values that turn light text on this ground into dark text on white. */
function lightText(ground: number, isBand: boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, value) => {
    // Rules of a table are darker than its band, and stay dark.
    if (isBand && value < ground / 2) return (510 * value) / ground;
    return Math.min(255, (255 * (255 - value)) / (255 - ground));
  });
}

/** Clears each row of each ground from its first to its last dark pixel. */
function clearedWithin(page: Bitmap, runs: Runs, grounds: readonly Ground[]): Bitmap {
  const { width, height, data } = page;
  const out = new Uint8Array(data);
  // The last run of each ground so far is none.
  const cleared = grounds.map((ground) => ({ ground, row: -1, end: 0 }));
  const byRegion = Map.groupBy(cleared, ({ ground }) => ground.region);
  for (let at = 0; at < runs.count; at++) {
    const row = runs.row[at] as number;
    const before = byRegion
      .get(runs.region[at] as number)
      ?.find(({ ground }) => row >= ground.y && row < ground.y + ground.height);
    if (before === undefined) continue;
    const end = runs.end[at] as number;
    // Clears the run together with the gap between it and the preceding one.
    let x = before.row === row ? before.end : (runs.start[at] as number);
    for (; x < end; x++) out[row * width + x] = before.ground.values[data[row * width + x] as number] as number;
    before.row = row;
    before.end = end;
  }
  return { width, height, data: out };
}
