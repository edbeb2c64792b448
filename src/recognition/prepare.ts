// Prepares the image of a page for recognition: dark text on evenly light paper, upright, large enough.

import type { Bitmap } from "./bitmap.ts";
import { flatten } from "./flatten.ts";
import { histogram, inkOf, split } from "./ink.ts";
import { letterHeight, lettersOf } from "./letters.ts";
import { darkOnLight } from "./polarity.ts";
import { chain, project, rotation, scaling, translation, type Point, type Projection } from "./projection.ts";
import { shrink, warp } from "./resample.ts";
import { withoutSpecks } from "./specks.ts";
import { uprightOf } from "./upright.ts";

interface Prepared {
  readonly bitmap: Bitmap;
  /** Maps points of `bitmap` to the original page. */
  readonly toOriginal: Projection;
  /** Median height of letters in `bitmap`, in pixels; 0 when there are none. */
  readonly letterHeight: number;
}

/** Pixels; smaller letters are enlarged to about this height. */
const READABLE = 12;
const MOST_ENLARGED = 3;
/** Pixels; letters several times as high are reduced, which keeps them readable and saves time. */
const ENOUGH = 24;
/** Maximum number of pixels of an enlarged page, and of one that was turned. */
const LARGEST = { enlarged: 12_000_000, turned: 4096 ** 2 };
/** Degrees up to which a page is not turned: turning blurs small letters, and recognition tolerates such a skew. */
const LEVEL = 0.2;

/** Prepares a page. `fast`: small letters stay as they are. */
export function prepare(original: Bitmap, { fast }: { readonly fast?: boolean | undefined } = {}): Prepared {
  const page = flatten(darkOnLight(withoutSpecks(original)));
  const { threshold, light } = split(histogram(page));
  const letters = lettersOf(inkOf(page, threshold));
  const { turns, degrees } = uprightOf(letters);
  const factor = Math.max(1, Math.floor(letterHeight(letters) / ENOUGH));
  const small = shrink(page, factor);
  const height = letterHeight(letters) / factor;
  const turned = 90 * turns + (Math.abs(degrees) < LEVEL ? 0 : degrees);
  const scale = fast ? 1 : enlargement(small, height);
  if (turned === 0 && scale === 1) return { bitmap: small, toOriginal: scaling(factor), letterHeight: height };
  const made = upright(small, turned, scale);
  const bitmap = warp(small, made.projection, made.width, made.height, Math.round(light));
  return { bitmap, toOriginal: chain(made.projection, scaling(factor)), letterHeight: height * made.scale };
}

function enlargement({ width, height }: Bitmap, letters: number): number {
  if (letters === 0 || letters >= READABLE) return 1;
  const possible = Math.sqrt(LARGEST.enlarged / (width * height));
  return Math.max(1, Math.min(MOST_ENLARGED, READABLE / letters, possible));
}

/** Computes the projection that turns the page back by `degrees` and enlarges it, within the largest size. */
function upright({ width, height }: Bitmap, degrees: number, wanted: number) {
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
  const [across, down] = [right - left, bottom - top];
  const scale = Math.min(wanted, Math.sqrt(LARGEST.turned / (across * down)));
  return {
    projection: chain(scaling(1 / scale), translation(left, top), rotation(degrees)),
    width: Math.max(1, Math.round(across * scale)),
    height: Math.max(1, Math.round(down * scale)),
    scale,
  };
}

const range = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];
