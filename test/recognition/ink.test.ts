import { expect, test } from "bun:test";
import { components, regions } from "../../src/recognition/components.ts";
import { flatten } from "../../src/recognition/flatten.ts";
import { histogram, inkOf, split } from "../../src/recognition/ink.ts";
import { letterHeight, lettersOf } from "../../src/recognition/letters.ts";
import { darkOnLight } from "../../src/recognition/polarity.ts";
import { withoutSpecks } from "../../src/recognition/specks.ts";
import { Drawing, specksIn } from "./drawing.ts";

/** Returns a drawing in which `#` is ink. */
const drawn = (...rows: readonly string[]) => ({
  width: rows[0]?.length ?? 0,
  height: rows.length,
  data: Uint8Array.from(rows.join(""), (sign) => (sign === "#" ? 1 : 0)),
});

const inverse = (page: Drawing) => {
  for (let at = 0; at < page.data.length; at++) page.data[at] = 255 - (page.data[at] as number);
  return page;
};

test("regions are connected diagonally too, and have their box and area", () => {
  const found = components(regions(drawn("#.#...", ".#....", "#.#..#", "....##", "......")));
  expect(found.map(({ x, y, width, height, area }) => [x, y, width, height, area])).toEqual([
    [0, 0, 3, 3, 5],
    [4, 2, 2, 2, 3],
  ]);
});

test("branches that meet only further down are one region", () => {
  expect(components(regions(drawn("#.#.#", "#.#.#", "#.###", "###..")))).toHaveLength(1);
  expect(components(regions(drawn("####.", "#..#.", "#.##.", "#....")), 3)).toHaveLength(1);
  expect(components(regions(drawn("#.#", "...", "#.#")), 2)).toEqual([]);
});

test("ink and paper are separated at a value between theirs", () => {
  const page = new Drawing(100, 40, 220).text(10, 10, "rent", 2, 60);
  const { threshold, dark, light, share } = split(histogram(page));
  expect([dark, light]).toEqual([60, 220]);
  expect(threshold).toBeGreaterThanOrEqual(60);
  expect(threshold).toBeLessThan(220);
  expect(share).toBeLessThan(0.2);
  expect(letterHeight(lettersOf(inkOf(page, threshold)))).toBe(10);
});

test("a page that is shaded on one side becomes even, and its letters stay dark", () => {
  const page = new Drawing(400, 400).page();
  for (let at = 0; at < page.data.length; at++)
    page.data[at] = (page.data[at] as number) * (1 - (0.6 * (at % 400)) / 400);
  const even = flatten(page);
  const clean = new Drawing(400, 400).page();
  const wrong = clean.data.filter((value, at) => (value === 0) !== (even.data[at] as number) < 128);
  expect(wrong).toHaveLength(0);
  const papers = even.data.filter((_, at) => clean.data[at] === 255);
  expect(Math.min(...papers)).toBeGreaterThan(225);
});

test("an even page stays unchanged", () => {
  const page = new Drawing(300, 300, 230).page();
  expect(flatten(page)).toBe(page);
});

test("a light-on-dark page becomes dark on light", () => {
  const page = darkOnLight(inverse(new Drawing(300, 200).page()));
  expect(Buffer.from(page.data).equals(new Drawing(300, 200).page().data)).toBe(true);
});

test("letters on a dark band are inverted, and the page around it is not", () => {
  const page = new Drawing(300, 200).page().box(0, 150, 300, 40).text(20, 160, "another stone", 2, 255);
  const wanted = new Drawing(300, 200).page().box(0, 150, 300, 40, 255).text(20, 160, "another stone");
  expect(Buffer.from(darkOnLight(page).data).equals(wanted.data)).toBe(true);
});

test("the dark head of a table is inverted between its rules, which stay", () => {
  const [left, right, head, bottom] = [20, 380, 60, 250] as const;
  const page = new Drawing(400, 280).box(left, 20, right - left, head - 20, 40).text(30, 32, "another", 2, 255);
  page.text(220, 32, "stone", 2, 255).text(30, 90, "bread").text(220, 90, "north");
  for (const y of [20, head, 120, 180, bottom]) page.box(left, y, right - left + 1, 1);
  for (const x of [left, 200, right]) page.box(x, 20, 1, bottom - 20);
  const at = (bitmap: { readonly data: Uint8Array }, x: number, y: number) => bitmap.data[y * 400 + x] as number;
  const made = darkOnLight(page);
  for (const x of [25, 120, 210]) {
    expect([at(made, x, 40), at(made, x, head)]).toEqual([255, 0]);
  }
  for (const y of [30, 40, 50]) expect([at(made, left, y), at(made, 200, y), at(made, right, y)]).toEqual([0, 0, 0]);
  const letters = new Drawing(400, 280).text(30, 32, "another").text(220, 32, "stone");
  for (const [index, value] of letters.data.entries()) if (value === 0) expect(made.data[index]).toBe(0);
  for (let y = head + 1; y < 280; y++) for (let x = 0; x < 400; x++) expect(at(made, x, y)).toBe(at(page, x, y));
});

test("a thick letter and a bar are not treated as dark backgrounds", () => {
  const page = new Drawing(300, 200).text(30, 20, "e", 16).box(180, 20, 80, 30);
  expect(darkOnLight(page)).toBe(page);
});

test("a shaded part of a page is not inverted: its letters stay dark, and its paper becomes light", () => {
  const page = new Drawing(300, 300).page();
  for (let y = 0; y < 150; y++) {
    for (let x = 0; x < 300; x++) page.data[y * 300 + x] = page.data[y * 300 + x] === 0 ? 0 : 100 + (y % 3);
  }
  const [made, clean] = [darkOnLight(page).data, new Drawing(300, 300).page().data];
  expect(made.filter((value, at) => Math.abs(value - (clean[at] as number)) > 3)).toHaveLength(0);
});

test("specks are removed from a page full of them, and its letters stay", () => {
  const page = specksIn(new Drawing(300, 300).page(3), 1500);
  const clean = new Drawing(300, 300).page(3);
  const wrong = (one: { data: Uint8Array }) => one.data.filter((value, at) => value !== clean.data[at]).length;
  expect(wrong(withoutSpecks(page))).toBeLessThan(wrong(page) / 5);
});

test("single dots on a clean page are not treated as specks", () => {
  const page = new Drawing(300, 300).page();
  for (let at = 0; at < 20; at++) page.box(10 + at * 13, 5, 1, 1);
  expect(withoutSpecks(page)).toBe(page);
});
