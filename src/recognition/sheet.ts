// Finds a sheet photographed on a lighter or darker ground: its corners, and its image as seen from above.

import type { Bitmap } from "./bitmap.ts";
import { components, regions, type Component, type Runs } from "./components.ts";
import { hull, area, quadrilateral } from "./hull.ts";
import { histogram, inkOf, split, type Ink } from "./ink.ts";
import { ontoCorners, type Corners, type Point, type Projection } from "./projection.ts";
import { resize, warp } from "./resample.ts";

interface Sheet {
  readonly bitmap: Bitmap;
  /** Maps points of `bitmap` to the photograph. */
  readonly toOriginal: Projection;
}

/** Longer side, in pixels, of the smaller image in which the sheet is searched. */
const SIDE = 400;
/** Radius in pixels of the closing that removes letters. */
const REACH = 4;
/** Minimum difference between the values of sheet and ground. */
const CONTRAST = 30;
/** Distance from a side, in pixels, at which they must differ, and the minimum share of places where they do. */
const EDGE = 3;
const SHARP = 0.8;
/** Minimum and maximum share of the photograph; a larger sheet needs no cropping. */
const SHARE = { least: 0.2, most: 0.97 };
/** Minimum shares: of its convex outline that the sheet fills, and of the four-sided area that the outline fills. */
const FULL = { outline: 0.85, sides: 0.93 };
/** Angles of the corners, in degrees. */
const CORNER = { least: 50, most: 130 };
/** By how many values a pixel is darker than its closed surroundings when it is a fine dark detail. */
const DETAIL = 30;

/** Returns the sheet that fills most of the photograph; undefined when there is none, or no ground around it. */
export function cutOutSheet(photograph: Bitmap): Sheet | undefined {
  const corners = sheetCorners(photograph);
  if (corners === undefined) return undefined;
  const [a, b, c, d] = corners;
  const width = Math.max(1, Math.round(Math.max(distance(a, b), distance(d, c))));
  const height = Math.max(1, Math.round(Math.max(distance(a, d), distance(b, c))));
  const toOriginal = ontoCorners(width, height, corners);
  return { bitmap: warp(photograph, toOriginal, width, height, 255), toOriginal };
}

const distance = ([x0, y0]: Point, [x1, y1]: Point): number => Math.hypot(x1 - x0, y1 - y0);

/** Returns the corners of the sheet in pixels. */
export function sheetCorners(photograph: Bitmap): Corners | undefined {
  const scale = Math.max(1, Math.max(photograph.width, photograph.height) / SIDE);
  const width = Math.max(1, Math.round(photograph.width / scale));
  const height = Math.max(1, Math.round(photograph.height / scale));
  const small = resize(photograph, width, height);
  const plain = closed(small);
  const { threshold, light, dark } = split(histogram(plain));
  if (light - dark < CONTRAST) return undefined;
  const below = inkOf(plain, threshold);
  const above = { ...below, data: below.data.map((ink) => 1 - ink) };
  const found = sheet(above, small, plain) ?? sheet(below, small, plain);
  return found?.map(([x, y]) => [(x * photograph.width) / width, (y * photograph.height) / height] as const) as
    Corners | undefined;
}

/** Removes dark details thinner than twice the reach: takes the lightest value nearby, and of these the darkest. */
function closed(bitmap: Bitmap): Bitmap {
  const lightest = extreme(extreme(bitmap, false, Math.max), true, Math.max);
  return extreme(extreme(lightest, false, Math.min), true, Math.min);
}

function extreme({ width, height, data }: Bitmap, down: boolean, choose: (a: number, b: number) => number): Bitmap {
  const out = new Uint8Array(data);
  const [steps, stride] = down ? [height, width] : [width, 1];
  for (let at = 0; at < data.length; at++) {
    const step = down ? Math.floor(at / width) : at % width;
    let value = data[at] as number;
    for (let off = Math.max(-REACH, -step), end = Math.min(REACH, steps - 1 - step); off <= end; off++) {
      value = choose(value, data[at + off * stride] as number);
    }
    out[at] = value;
  }
  return { width, height, data: out };
}

function sheet(mask: Ink, small: Bitmap, plain: Bitmap): Corners | undefined {
  const total = mask.data.length;
  const runs = regions(mask);
  const [largest] = components(runs, SHARE.least * total).sort((a, b) => b.area - a.area);
  if (!largest) return undefined;
  const outline = hull(edgePoints(largest, runs));
  const corners = quadrilateral(outline);
  if (!corners || !isSheet(corners)) return undefined;
  const [sides, filled] = [area(corners), area(outline)];
  if (sides > SHARE.most * total || filled < FULL.sides * sides || largest.area < FULL.outline * filled)
    return undefined;
  return isEdged(corners, plain) && isGround(corners, small, plain) ? corners : undefined;
}

/** Returns the outer corners of the first and last pixel of each row. */
function edgePoints({ region }: Component, runs: Runs): Point[] {
  const points: Point[] = [];
  for (let at = 0; at < runs.count; at++) {
    if (runs.region[at] !== region) continue;
    const y = runs.row[at] as number;
    for (const x of [runs.start[at] as number, runs.end[at] as number]) points.push([x, y], [x, y + 1]);
  }
  return points;
}

function isSheet(corners: Corners): boolean {
  return corners.every(([x, y], at) => {
    const [bx, by] = corners[(at + 3) % 4] ?? [0, 0];
    const [ax, ay] = corners[(at + 1) % 4] ?? [0, 0];
    const turn = Math.abs(Math.atan2(by - y, bx - x) - Math.atan2(ay - y, ax - x));
    const degrees = (Math.min(turn, 2 * Math.PI - turn) * 180) / Math.PI;
    return degrees >= CORNER.least && degrees <= CORNER.most;
  });
}

/** Returns whether light and dark meet sharply at the sides, which they do not at a shadow. */
function isEdged(corners: Corners, { width, height, data }: Bitmap): boolean {
  const valueAt = (x: number, y: number): number | undefined =>
    x < 0 || y < 0 || x >= width || y >= height ? undefined : data[Math.floor(y) * width + Math.floor(x)];
  let [sharp, all] = [0, 0];
  for (const [at, [x0, y0]] of corners.entries()) {
    const [x1, y1] = corners[(at + 1) % 4] ?? [0, 0];
    const length = Math.hypot(x1 - x0, y1 - y0);
    const [outX, outY] = [(y1 - y0) / length, (x0 - x1) / length];
    for (let share = 0.1; share < 0.95; share += 0.05) {
      const [x, y] = [x0 + share * (x1 - x0), y0 + share * (y1 - y0)];
      const inside = valueAt(x - EDGE * outX, y - EDGE * outY);
      const outside = valueAt(x + EDGE * outX, y + EDGE * outY);
      if (inside === undefined || outside === undefined) continue;
      all++;
      if (Math.abs(inside - outside) >= CONTRAST) sharp++;
    }
  }
  return sharp >= SHARP * all;
}

/** Returns whether the surroundings have no more fine dark details than the sheet; else they are part of a page. */
function isGround(corners: Corners, { width, data }: Bitmap, plain: Bitmap): boolean {
  const [inside, outside] = [
    { all: 1, details: 0 },
    { all: 1, details: 0 },
  ];
  for (let at = 0; at < data.length; at++) {
    const part = isBetween(corners, (at % width) + 0.5, Math.floor(at / width) + 0.5) ? inside : outside;
    part.all++;
    if ((plain.data[at] as number) - (data[at] as number) > DETAIL) part.details++;
  }
  return outside.details / outside.all <= Math.max(0.01, inside.details / inside.all);
}

const isBetween = (corners: Corners, x: number, y: number): boolean =>
  corners.every(([x0, y0], at) => {
    const [x1, y1] = corners[(at + 1) % 4] ?? [0, 0];
    return (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) >= 0;
  });
