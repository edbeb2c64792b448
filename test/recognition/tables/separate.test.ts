import { expect, test } from "bun:test";
import { gridsOf } from "../../../src/recognition/tables/grid.ts";
import { findRules } from "../../../src/recognition/tables/rules.ts";
import { separateCells } from "../../../src/recognition/tables/separate.ts";
import { Drawing } from "../drawing.ts";

const LETTERS = 14;

/** Draws a table with these columns and rows. */
function lattice(page: Drawing, xs: readonly number[], ys: readonly number[]): Drawing {
  const [left = 0, top = 0, right = 0, bottom = 0] = [xs[0], ys[0], xs.at(-1), ys.at(-1)];
  for (const y of ys) page.box(left, y, right - left + 1, 1);
  for (const x of xs) page.box(x, top, 1, bottom - top + 1);
  return page;
}

function chosen(page: Drawing, letterHeight = LETTERS) {
  const grids = gridsOf(findRules(page, { level: 40, plumb: 26 }, 128), LETTERS);
  return separateCells({ bitmap: page, grids, letterHeight, dark: 128 });
}
const places = (page: Drawing, letterHeight?: number) =>
  chosen(page, letterHeight).map(({ cell: { row, column } }) => [row, column]);

test("cells with text are read separately, between their rules; empty ones are not", () => {
  const page = lattice(new Drawing(400, 200), [20, 140, 260], [20, 70, 120]).text(40, 35, "ten").box(180, 95, 6, 2);
  expect(places(page)).toEqual([
    [0, 0],
    [1, 1],
  ]);
  expect(chosen(page)[0]?.inner).toEqual({ x: 24, y: 24, width: 114, height: 44 });
});

test("cells that are many lines high, and those with a table inside, are left as they were read", () => {
  const page = lattice(new Drawing(400, 300), [20, 140, 300], [20, 70, 220]).text(40, 35, "ten").text(160, 80, "sent");
  expect(places(page)).toEqual([[0, 0]]);
  expect(places(page, 40)).toEqual([
    [0, 0],
    [1, 1],
  ]);
  lattice(page, [160, 210, 270], [120, 160, 200]).text(170, 130, "no");
  expect(places(page, 40)).not.toContainEqual([1, 1]);
});

test("with more cells than can be read in time, none is read separately", () => {
  const steps = (count: number) => Array.from({ length: count + 1 }, (_, at) => 10 + 45 * at);
  const page = lattice(new Drawing(1000, 1400), steps(20), steps(25));
  for (const y of steps(24)) for (const x of steps(19)) page.text(x + 10, y + 10, "a");
  expect(places(page)).toHaveLength(500);
  page.data.set(lattice(new Drawing(1000, 1400), steps(20), steps(26)).data);
  for (const y of steps(25)) for (const x of steps(19)) page.text(x + 10, y + 10, "a");
  expect(places(page)).toEqual([]);
});
