// What a page goes through before its text is read: dark text on even light paper, upright, large enough.

import type { Bitmap } from "./bitmap.ts";
import { flatten } from "./flatten.ts";
import { histogram, inkOf, split } from "./ink.ts";
import { letterHeight, lettersOf } from "./letters.ts";
import { darkOnLight } from "./polarity.ts";
import { chain, IDENTITY, project, rotation, scaling, translation, type Point, type Projection } from "./projection.ts";
import { warp } from "./resample.ts";
import { withoutSpecks } from "./specks.ts";
import { uprightOf } from "./upright.ts";

export interface Prepared {
  readonly bitmap: Bitmap;
  /** Where points of `bitmap` lie in the page as it came. */
  readonly toOriginal: Projection;
  /** The height of most letters in `bitmap`, in pixels; 0 when there are none. */
  readonly letterHeight: number;
}

/** Pixels: smaller letters are enlarged to about this height. */
const READABLE = 16;
const MOST_ENLARGED = 3;
/** Pixels of an enlarged page. */
const LARGEST = 12_000_000;
/** Degrees: turning blurs small letters, and what reads them copes with so little. */
const LEVEL = 0.2;

/** Makes a page ready to be read. */
export function prepare(original: Bitmap): Prepared {
  const page = flatten(darkOnLight(withoutSpecks(original)));
  const { threshold, light } = split(histogram(page));
  const letters = lettersOf(inkOf(page, threshold));
  const { turns, degrees } = uprightOf(letters);
  const height = letterHeight(letters);
  const turned = 90 * turns + (Math.abs(degrees) < LEVEL ? 0 : degrees);
  const scale = enlargement(page, height);
  if (turned === 0 && scale === 1) return { bitmap: page, toOriginal: IDENTITY, letterHeight: height };
  const { projection, width, height: down } = upright(page, turned, scale);
  const bitmap = warp(page, projection, width, down, Math.round(light));
  return { bitmap, toOriginal: projection, letterHeight: height * scale };
}

function enlargement({ width, height }: Bitmap, letters: number): number {
  if (letters === 0 || letters >= READABLE) return 1;
  const possible = Math.sqrt(LARGEST / (width * height));
  return Math.max(1, Math.min(MOST_ENLARGED, READABLE / letters, possible));
}

/** The page turned back by some degrees and enlarged, as large as all of it needs. */
function upright({ width, height }: Bitmap, degrees: number, scale: number) {
  const back = rotation(-degrees);
  const corners: Point[] = [
    [0, 0],
    [width, 0],
    [0, height],
    [width, height],
  ];
  const points = corners.map((corner) => project(back, corner));
  const [left, right] = range(points.map(([x]) => x));
  const [top, bottom] = range(points.map(([, y]) => y));
  return {
    projection: chain(scaling(1 / scale), translation(left, top), rotation(degrees)),
    width: Math.round((right - left) * scale),
    height: Math.round((bottom - top) * scale),
  };
}

const range = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];
