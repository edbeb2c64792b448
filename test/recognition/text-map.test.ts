// Finding lines in a detector's map.

import { expect, test } from "bun:test";
import { linesIn } from "../../src/recognition/text-map.ts";

/** Returns a map of 100 × 60 with values in some places. */
function map(...places: readonly (readonly [x: number, y: number, width: number, height: number, value: number])[]) {
  const [width, height] = [100, 60];
  const data = new Float32Array(width * height);
  for (const [x, y, across, down, value] of places) {
    for (let row = y; row < y + down; row++) data.fill(value, row * width + x, row * width + x + across);
  }
  return { width, height, data };
}

test("a region becomes the box of its line: enlarged as much as lines were shrunk, and within the page", () => {
  // 60 × 6: enlarged by 1.5 × 360 / 132 = 4.1 on each side.
  expect(linesIn(map([20, 20, 60, 6, 0.9]))).toEqual([{ x: 15, y: 15, width: 70, height: 16 }]);
  expect(linesIn(map([0, 0, 60, 6, 0.9]))).toEqual([{ x: 0, y: 0, width: 65, height: 11 }]);
});

test("regions that are improbable or too small are not lines", () => {
  expect(linesIn(map([20, 20, 60, 6, 0.5]))).toEqual([]);
  expect(linesIn(map([20, 20, 60, 2, 0.9]))).toEqual([]);
  expect(linesIn(map([20, 10, 60, 6, 0.9], [20, 30, 60, 6, 0.2], [20, 45, 60, 6, 0.8]))).toHaveLength(2);
});
