// Finds lines of text in a detector's map, which contains for each pixel the probability that it is in the middle of a
// line (differentiable binarization, as PaddleOCR's detectors are trained).

import type { Box } from "../domain/recognition.ts";
import { clipped, grown } from "./boxes.ts";
import { components, regions } from "./components.ts";

interface TextMap {
  readonly width: number;
  readonly height: number;
  /** Probabilities from 0 to 1, row by row from the top. */
  readonly data: Float32Array;
}

/** Minimum probability of a pixel, and minimum mean probability in the box of a region. */
const LIKELY = { pixel: 0.3, box: 0.6 };
/** Minimum side in pixels of a region, which is the middle of a line. */
const LEAST = 3;
/** The map shrinks lines in proportion to area / perimeter; regions grow again by this multiple of it. */
const GROWN = 1.5;

/** Returns the boxes of lines, in pixels of the map. */
export function linesIn(map: TextMap): Box[] {
  const data = Uint8Array.from(map.data, (value) => (value > LIKELY.pixel ? 1 : 0));
  return components(regions({ ...map, data }))
    .filter((box) => Math.min(box.width, box.height) >= LEAST && mean(map, box) >= LIKELY.box)
    .map((box) => clipped(grown(box, (GROWN * box.width * box.height) / (2 * (box.width + box.height))), map));
}

function mean({ width, data }: TextMap, box: Box): number {
  let sum = 0;
  for (let y = box.y; y < box.y + box.height; y++) {
    for (let at = y * width + box.x, end = at + box.width; at < end; at++) sum += data[at] as number;
  }
  return sum / (box.width * box.height);
}
