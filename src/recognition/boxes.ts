import type { Bitmap, Box } from "./bitmap.ts";

/** The smallest box around some, of which there must be one. */
export function around(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** The part of a box that lies in a bitmap. */
export function clipped({ x, y, width, height }: Box, bitmap: Omit<Bitmap, "data">): Box {
  const [left, top] = [Math.max(0, Math.floor(x)), Math.max(0, Math.floor(y))];
  const right = Math.min(bitmap.width, Math.ceil(x + width));
  const bottom = Math.min(bitmap.height, Math.ceil(y + height));
  return { x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}
