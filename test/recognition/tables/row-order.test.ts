import { expect, test } from "bun:test";
import { linesOf } from "../../../src/recognition/lines.ts";
import { contentOf, pageWithText } from "../../../src/recognition/page.ts";
import { inTableRows } from "../../../src/recognition/tables/row-order.ts";
import { unruledTables } from "../../../src/recognition/tables/unruled.ts";
import { Drawing, words } from "../drawing.ts";

test("a table whose columns were read one by one is read row by row, where it begins", () => {
  const columns = [
    ["Item", "Rope", "Oak shelf"],
    ["Count", "120", "7"],
    ["Price", "$3.10", "$99.00"],
  ];
  const text = "this line of text goes over the whole width of the page";
  const lines = [
    [0, 0, text] as const,
    ...columns.flatMap((column, at) => column.map((cell, row) => [at * 200, 40 + row * 26, cell] as const)),
    [0, 140, text] as const,
  ];
  // A block for each column, and one line for each cell.
  const read = lines.flatMap((line, at) =>
    words([line]).map((word) => ({ ...word, line: at, block: Math.ceil(at / 3) })),
  );
  const upright = pageWithText(new Drawing(700, 200), read);
  const found = linesOf(contentOf(upright.page, upright.words).words);
  expect(found.map((line) => [line.text, line.block])).toEqual([
    [text, 0],
    ["Item Count Price", 1],
    ["Rope 120 $3.10", 1],
    ["Oak shelf 7 $99.00", 1],
    [text, 2],
  ]);
});

test("the rows of an Arabic or Hebrew table are read from the right", () => {
  const read = words([
    [300, 0, "פריט"],
    [0, 0, "מחיר"],
    [240, 26, "שולחן גדול"],
    [0, 26, "250"],
    [240, 52, "כיסא נוח"],
    [0, 52, "80"],
    [300, 78, "2"],
    [0, 78, "330"],
  ]);
  const [table] = unruledTables(read).inside;
  expect(linesOf(inTableRows(read, table ? [table] : [])).map(({ text }) => text)).toEqual([
    "פריט מחיר",
    "גדול שולחן 250",
    "נוח כיסא 80",
    "2 330",
  ]);
  expect(unruledTables(read).tables[0]?.rows).toEqual([
    ["מחיר", "פריט"],
    ["250", "גדול שולחן"],
    ["80", "נוח כיסא"],
    ["330", "2"],
  ]);
});

test("a page without tables stays in its order", () => {
  const read = words([
    [0, 40, "below"],
    [0, 0, "above"],
  ]);
  expect(inTableRows(read, [])).toEqual(read);
});
