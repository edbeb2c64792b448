import { expect, test } from "bun:test";
import { gridsOf } from "../../../src/recognition/tables/grid.ts";
import { eraseRules, findRules, type Rule } from "../../../src/recognition/tables/rules.ts";
import { ruledTables } from "../../../src/recognition/tables/ruled.ts";
import { Drawing, word } from "../drawing.ts";

const LETTERS = 16;
const SHORTEST = { level: 40, plumb: 26 };

const XS = [20, 120, 200, 330];
const YS = [30, 70, 110, 150, 190];

/** Returns a table of four rows and three columns; `leave` names the pieces of its rules that are not drawn. */
function table(
  leave: (kind: "level" | "plumb", row: number, column: number) => boolean = () => false,
  thick = 1,
  ink = 0,
) {
  const page = new Drawing(360, 220);
  for (const [row, y] of YS.entries()) {
    for (let column = 0; column < 3; column++) {
      const [x = 0, end = 0] = XS.slice(column);
      if (!leave("level", row, column)) page.box(x, y, end - x + thick, thick, ink);
    }
  }
  for (const [column, x] of XS.entries()) {
    for (let row = 0; row < 4; row++) {
      const [y = 0, end = 0] = YS.slice(row);
      if (!leave("plumb", row, column)) page.box(x, y, thick, end - y + thick, ink);
    }
  }
  return page;
}

const gridsIn = (page: Drawing) => gridsOf(findRules(page, SHORTEST, 128), LETTERS);
const shape = (rules: readonly Rule[]) =>
  rules.map(({ vertical, from, to, middle }) => [vertical ? "plumb" : "level", from, to, Math.round(middle - 0.5)]);

for (const [name, thick, ink] of [
  ["thin", 1, 0],
  ["thick", 6, 0],
  ["grey", 2, 190],
] as const) {
  test(`${name} rules make a grid`, () => {
    const [grid, ...others] = gridsIn(table(undefined, thick, ink));
    expect(others).toEqual([]);
    expect([grid?.rows, grid?.columns, grid?.cells.length]).toEqual([4, 3, 12]);
    expect(grid?.box.width).toBeWithin(308, 314);
    expect(grid?.box.height).toBeWithin(158, 164);
  });
}

test("the cells below a merged cell are their own, however low they are", () => {
  const merged = (page: Drawing) => gridsIn(page)[0]?.cells.filter(({ columnSpan }) => columnSpan > 1) ?? [];
  const spanned = table((kind, row, column) => kind === "plumb" && row === 2 && column === 1);
  expect(merged(spanned).map(({ row, column, columnSpan }) => [row, column, columnSpan])).toEqual([[2, 0, 2]]);
});

test("a cell without a rule on one side is merged with the next one", () => {
  const page = table(
    (kind, row, column) =>
      (kind === "plumb" && row === 0 && column === 2) || (kind === "level" && row === 2 && column === 0),
  );
  const merged = gridsIn(page)[0]?.cells.filter(({ rowSpan, columnSpan }) => rowSpan * columnSpan > 1);
  expect(merged?.map(({ row, column, rowSpan, columnSpan }) => [row, column, rowSpan, columnSpan])).toEqual([
    [0, 1, 1, 2],
    [1, 0, 2, 1],
  ]);
});

test("a grid with open sides reaches as far as its rules", () => {
  const outer = (kind: "level" | "plumb", row: number, column: number) =>
    kind === "level" ? row === 0 || row === 4 : column === 0 || column === 3;
  const [grid] = gridsIn(table(outer));
  expect([grid?.rows, grid?.columns]).toEqual([4, 3]);
});

test("gaps of a pixel or two, a slope of one degree and letters on it do not break a rule", () => {
  const page = new Drawing(400, 60);
  for (let x = 20; x < 380; x++) if (x % 50 > 1) page.box(x, 30 + Math.floor((x - 20) / 57), 1, 2);
  page.text(100, 22, "p");
  expect(shape(findRules(page, SHORTEST, 128))).toHaveLength(1);
});

test("the feet of letters in a line are not a rule", () => {
  const page = new Drawing(400, 60);
  for (let x = 20; x < 380; x += 8) page.box(x, 30, 6, 2);
  expect(findRules(page, SHORTEST, 128)).toEqual([]);
});

test("text, a frame and crossing lines are not a grid", () => {
  expect(gridsIn(new Drawing(400, 300).page(3))).toEqual([]);
  const frame = new Drawing(300, 200).box(20, 20, 260, 2).box(20, 180, 260, 2).box(20, 20, 2, 160).box(278, 20, 2, 162);
  expect(gridsIn(frame)).toEqual([]);
  expect(gridsIn(new Drawing(300, 200).box(20, 100, 260, 2).box(150, 20, 2, 160))).toEqual([]);
});

test("letters close to a rule are not rules of the grid", () => {
  const page = table();
  for (const x of [45, 150]) page.box(x, 78, 3, 28);
  expect(gridsIn(page)[0]?.columns).toBe(3);
});

test("rules are removed from the page, on any background, and letters stay", () => {
  const ground = 220;
  const page = table(undefined, 2).text(40, 40, "stone", 2).text(210, 120, "bed");
  for (let at = 0; at < page.data.length; at++) if (page.data[at] === 255) page.data[at] = ground;
  const wanted = new Drawing(360, 220, ground).text(40, 40, "stone", 2).text(210, 120, "bed");
  const rules = findRules(page, SHORTEST, 128);
  expect(Buffer.from(eraseRules(page, rules).data).equals(wanted.data)).toBe(true);
});

test("a letter that crosses a rule keeps its pixels", () => {
  const page = new Drawing(200, 60).box(10, 30, 180, 2).box(100, 20, 3, 24);
  const out = eraseRules(page, findRules(page, { level: 40, plumb: 40 }, 128));
  expect(out.data[30 * 200 + 101]).toBe(0);
  expect(out.data[30 * 200 + 60]).toBe(255);
});

test("words belong to the cells that contain their middles, and the others to the rest", () => {
  const page = table((kind, row, column) => kind === "plumb" && row === 0 && column === 1);
  const read = [
    word("Title", 60, 40),
    word("b", 30, 90),
    word("a", 25, 74),
    word("x", 250, 160),
    word("out", 20, 2),
    word("c", 130, 84),
  ];
  const { tables, rest } = ruledTables(gridsIn(page), read);
  expect(tables).toHaveLength(1);
  expect(tables[0]?.rows).toEqual([
    ["Title", "", ""],
    ["a b", "c", ""],
    ["", "", ""],
    ["", "", "x"],
  ]);
  expect(tables[0]?.mergedCells).toEqual([{ row: 0, column: 0, rowSpan: 1, columnSpan: 2 }]);
  expect(rest.map(({ text }) => text)).toEqual(["out"]);
});

test("Arabic and Hebrew words of a cell are read from the right, names in Latin letters among them from the left", () => {
  const read = [
    word("שלום", 60, 40),
    word("עולם", 25, 40),
    word("24", 202, 40),
    word("بيت", 224, 40),
    word("A", 256, 40),
    word("B", 268, 40),
    word("من", 280, 40),
    word("في", 302, 40),
    word("see", 25, 80),
    word("بيت", 60, 80),
    word("at", 95, 80),
    word("Oak", 125, 80),
    word("shelf", 150, 80),
  ];
  expect(ruledTables(gridsIn(table()), read).tables[0]?.rows.slice(0, 2)).toEqual([
    ["שלום עולם", "", "في من A B بيت 24"],
    ["see بيت at", "Oak shelf", ""],
  ]);
});

test("a grid with hardly any words is not a table", () => {
  const lone = [word("axis", 30, 40)];
  expect(ruledTables(gridsIn(table()), lone)).toEqual({ tables: [], rest: lone });
});
