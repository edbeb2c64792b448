// A sheet photographed on a lighter or darker ground: its corners, and the sheet alone as if seen from above.

import type { Bitmap } from "./bitmap.ts";
import { components, regions, type Component, type Runs } from "./components.ts";
import { hull, area, quadrilateral } from "./hull.ts";
import { histogram, inkOf, split, type Ink } from "./ink.ts";
import { ontoCorners, type Corners, type Point, type Projection } from "./projection.ts";
import { resize, warp } from "./resample.ts";

interface Document {
  readonly bitmap: Bitmap;
  /** Where points of `bitmap` lie in the photograph. */
  readonly toOriginal: Projection;
}

/** Pixels of the longer side at which the sheet is looked for. */
const SIDE = 400;
/** Letters are closed up to this many pixels around. */
const REACH = 4;
/** By how many values sheet and ground differ. */
const CONTRAST = 30;
/** Pixels from a side within which they do so, and the share of its places where they must. */
const EDGE = 3;
const SHARP = 0.8;
/** Share of the photograph that a sheet has; with more, there is nothing to cut. */
const SHARE = { least: 0.2, most: 0.97 };
/** Share of its outline that a sheet fills, and of four sides around it that the outline does. */
const FULL = { outline: 0.85, sides: 0.93 };
/** Degrees. */
const CORNER = { least: 50, most: 130 };
/** Share of the pixels that are fine dark details: where the ground has more of them than the sheet, it is no ground. */
const DETAIL = 30;

/** The sheet that most of the photograph shows; undefined when none is found, or nothing is around it. */
export function cropDocument(photograph: Bitmap): Document | undefined {
  const corners = documentCorners(photograph);
  if (corners === undefined) return undefined;
  const [a, b, c, d] = corners;
  const width = Math.max(1, Math.round(Math.max(distance(a, b), distance(d, c))));
  const height = Math.max(1, Math.round(Math.max(distance(a, d), distance(b, c))));
  const toOriginal = ontoCorners(width, height, corners);
  return { bitmap: warp(photograph, toOriginal, width, height, 255), toOriginal };
}

const distance = ([x0, y0]: Point, [x1, y1]: Point): number => Math.hypot(x1 - x0, y1 - y0);

/** The corners of that sheet, in pixels. */
export function documentCorners(photograph: Bitmap): Corners | undefined {
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

/** Without dark details that are thinner than twice the reach: the lightest around each pixel, and of those the darkest. */
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

/** The first and the last pixel of each row, by their outer corners. */
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

/** Whether the sides part light from dark sharply: a shadow does not. */
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

/** Whether what lies around the corners has no more fine dark details than what lies between them: it is no page itself. */
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
