import type { Box } from "../domain/recognition.ts";
import type { Bitmap } from "./bitmap.ts";

/** Returns the smallest box around all boxes, of which there must be at least one. */
export function around(boxes: readonly Box[]): Box {
  // A loop, since there may be more boxes than a call can have arguments.
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y, width, height } of boxes) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + width);
    bottom = Math.max(bottom, y + height);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Returns whether the middle of a box is inside another one. */
export function holdsMiddle(outer: Box, box: Box): boolean {
  const [x, y] = [box.x + box.width / 2 - outer.x, box.y + box.height / 2 - outer.y];
  return x >= 0 && y >= 0 && x < outer.width && y < outer.height;
}

/** Returns the part of a box inside a bitmap. */
export function clipped({ x, y, width, height }: Box, bitmap: Omit<Bitmap, "data">): Box {
  const [left, top] = [Math.max(0, Math.floor(x)), Math.max(0, Math.floor(y))];
  const right = Math.min(bitmap.width, Math.ceil(x + width));
  const bottom = Math.min(bitmap.height, Math.ceil(y + height));
  return { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}

/** Returns the box whose edges are `by` pixels further out. */
export const grown = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

/** Returns the box in a bitmap that is `by` times as large. */
export const scaled = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x * by,
  y: y * by,
  width: width * by,
  height: height * by,
});
