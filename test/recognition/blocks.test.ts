// Grouping the lines of a page into blocks.

import { expect, test } from "bun:test";
import type { Box } from "../../src/domain/recognition.ts";
import { blocksOf } from "../../src/recognition/blocks.ts";

const line = (x: number, y: number, width = 300): Box => ({ x, y, width, height: 20 });
const lines = (x: number, top: number, count: number, width?: number) =>
  Array.from({ length: count }, (_, at) => line(x, top + 30 * at, width));

/** Returns the rows of each block as indexes of their boxes. */
const places = (boxes: readonly Box[]) =>
  blocksOf(boxes).map((rows) => rows.map((row) => row.map(({ x, y }) => `${x},${y}`)));

test("paragraphs are separated by space, and read from the top", () => {
  const [first, second] = [lines(50, 50, 2), lines(50, 150, 2)];
  expect(places([...second, ...first])).toEqual([
    [["50,50"], ["50,80"]],
    [["50,150"], ["50,180"]],
  ]);
  expect(places([])).toEqual([]);
});

test("columns are read one after another, after a heading that spans them", () => {
  const found = places([...lines(400, 150, 3), line(50, 50, 650), ...lines(50, 150, 3)]);
  expect(found.map((rows) => rows[0])).toEqual([["50,50"], ["50,150"], ["400,150"]]);
});

test("cells next to each other are not columns", () => {
  expect(places([...lines(50, 50, 3, 80), ...lines(400, 50, 3, 80)])).toEqual([
    [
      ["50,50", "400,50"],
      ["50,80", "400,80"],
      ["50,110", "400,110"],
    ],
  ]);
});
