// Finds places of possible MaxiCodes by their rings: the decoder takes all ink of a picture for one upright code.

import type { Box } from "../domain/recognition.ts";
import type { Component } from "./components.ts";
import type { Ink } from "./ink.ts";

/** Minimum side of the rings in pixels; smaller regions are letters. */
const SMALLEST = 16;
const MOST_CODES = 8;
/** Distances from the centre of an upright code to its edges, in widths of the middle one of its three rings. */
const REACH = { left: 2.31, top: 2.15, right: 2.5, bottom: 2.15 };
/** White margin around the code, in the same unit. */
const WHITE = 0.1;

/** A place, and the EXIF orientation of a picture with a code in this direction. */
export interface MaxiCodePlace {
  readonly box: Box;
  readonly orientation: 1 | 3 | 6 | 8;
}

/** Returns the places among the parts of a picture, each as upright, and turned right, by half and left. */
export function maxiCodePlaces(ink: Ink, parts: readonly Component[]): MaxiCodePlace[] {
  return parts
    .filter((one) => isMiddleRing(ink, one))
    .toSorted((a, b) => b.width - a.width)
    .slice(0, MOST_CODES)
    .flatMap((ring) => {
      const { left, top, right, bottom } = REACH;
      return [
        { box: boxAround(ring, REACH), orientation: 1 as const },
        { box: boxAround(ring, { left: bottom, top: left, right: top, bottom: right }), orientation: 8 as const },
        { box: boxAround(ring, { left: right, top: bottom, right: left, bottom: top }), orientation: 3 as const },
        { box: boxAround(ring, { left: top, top: right, right: bottom, bottom: left }), orientation: 6 as const },
      ];
    });
}

function boxAround({ x, y, width, height }: Box, { left, top, right, bottom }: typeof REACH): Box {
  const edge = (reach: number) => (reach + WHITE) * width;
  return {
    x: x + width / 2 - edge(left),
    y: y + height / 2 - edge(top),
    width: edge(left) + edge(right),
    height: edge(top) + edge(bottom),
  };
}

/** Returns whether this is the middle ring; the outer one may touch what surrounds it. */
function isMiddleRing(ink: Ink, { x, y, width, height }: Component): boolean {
  if (Math.min(width, height) < SMALLEST || Math.abs(width - height) > 1 + 0.1 * width) return false;
  const row = (y + (height >> 1)) * ink.width + x;
  const column = y * ink.width + x + (width >> 1);
  return isCutTwice(ink, row, 1, width) && isCutTwice(ink, column, ink.width, height);
}

/** Returns whether a line through the middle crosses two rings, with white in the centre. */
function isCutTwice({ data }: Ink, from: number, step: number, length: number): boolean {
  let runs = 0;
  for (let at = 0; at < length; at++) {
    const before = at === 0 ? 0 : data[from + (at - 1) * step];
    if (data[from + at * step] === 1 && before === 0) runs++;
  }
  return runs === 4 && data[from + (length >> 1) * step] === 0;
}
