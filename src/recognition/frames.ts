// Finds frames around bar codes, as on shipping labels. The frame is cut off, since it may leave the code without white
// space beside it.

import type { Box } from "../domain/recognition.ts";
import type { Component } from "./components.ts";
import type { Ink } from "./ink.ts";

export interface Framed {
  readonly frame: Box;
  /** Strips across the middle of the content, between the frame's bars; one for each possible direction. */
  readonly strips: readonly Box[];
}

/** Minimum sides in pixels; smaller regions are letters. */
const SMALLEST = { longer: 80, shorter: 20 };
const MOST_FRAMES = 8;
/** Minimum share of a side that is ink, `INSIDE` pixels inside its edge, which may be ragged. */
const FULL = 0.95;
const INSIDE = 2;
/** Maximum thickness of a frame's bars, as a share of its width or height. */
const THICKEST = 0.25;

/** Returns the largest frames among the parts of a picture with horizontal and vertical sides. */
export function framesIn(ink: Ink, parts: readonly Component[]): Framed[] {
  const isLarge = ({ width, height }: Box) =>
    Math.max(width, height) >= SMALLEST.longer && Math.min(width, height) >= SMALLEST.shorter;
  return parts
    .filter((one) => isLarge(one) && hasSides(ink, one))
    .toSorted((a, b) => b.width * b.height - a.width * a.height)
    .slice(0, MOST_FRAMES)
    .map(({ x, y, width, height }) => {
      const frame = { x, y, width, height };
      return { frame, strips: stripsOf(ink, frame) };
    });
}

function hasSides(ink: Ink, { x, y, width, height }: Box): boolean {
  const [right, bottom] = [x + width - 1 - INSIDE, y + height - 1 - INSIDE];
  const share = (count: number, at: (index: number) => number) => {
    let dark = 0;
    for (let index = 0; index < count; index++) dark += ink.data[at(index)] as number;
    return dark / count;
  };
  const row = (level: number) => share(width, (index) => level * ink.width + x + index);
  const column = (plumb: number) => share(height, (index) => (y + index) * ink.width + plumb);
  return [row(y + INSIDE), row(bottom), column(x + INSIDE), column(right)].every((side) => side >= FULL);
}

function stripsOf(ink: Ink, { x, y, width, height }: Box): Box[] {
  const run = (from: number, step: number, most: number) => {
    let length = 0;
    while (length < most && ink.data[from + length * step] === 1) length++;
    return length;
  };
  const [middleX, middleY] = [x + (width >> 1), y + (height >> 1)];
  const [left, top] = [middleY * ink.width + x, y * ink.width + middleX];
  const across = [run(left, 1, width), run(left + width - 1, -1, width)] as const;
  const down = [run(top, ink.width, height), run(top + (height - 1) * ink.width, -ink.width, height)] as const;
  const [wide, high] = [Math.max(1, height >> 2), Math.max(1, width >> 2)];
  return [
    ...(Math.max(...across) < THICKEST * width
      ? [{ x: x + across[0], y: middleY - (wide >> 1), width: width - across[0] - across[1], height: wide }]
      : []),
    ...(Math.max(...down) < THICKEST * height
      ? [{ x: middleX - (high >> 1), y: y + down[0], width: high, height: height - down[0] - down[1] }]
      : []),
  ];
}
