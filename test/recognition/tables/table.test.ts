import { expect, test } from "bun:test";
import { csv, makeTable, type Cell } from "../../../src/recognition/tables/table.ts";
import { word } from "../drawing.ts";

const BOX = { x: 0, y: 0, width: 10, height: 10 };

/** Returns the cells of these rows; `null` is covered by a cell next to or above it. */
const cells = (
  rows: readonly (readonly (string | null)[])[],
  spans: Readonly<Record<string, [number, number]>> = {},
): Cell[] =>
  rows.flatMap((row, at) =>
    row.flatMap((text, column) => {
      if (text === null) return [];
      const [rowSpan, columnSpan] = (Object.hasOwn(spans, text) ? spans[text] : undefined) ?? [1, 1];
      return [
        {
          row: at,
          column,
          rowSpan,
          columnSpan,
          words: text === "" ? [] : text.split(" ").map((one) => word(one, 0, 0, 0.8)),
        },
      ];
    }),
  );

const table = (rows: readonly (readonly (string | null)[])[], spans?: Readonly<Record<string, [number, number]>>) =>
  makeTable(BOX, rows.length, rows[0]?.length ?? 0, cells(rows, spans));

test("the first row names the columns, and the others become objects with these names", () => {
  const found = table([
    ["Item", "Unit price"],
    ["Desk lamp", "$12.50"],
    ["Rope", ""],
  ]);
  expect(found.headers).toEqual(["Item", "Unit price"]);
  expect(found.rowObjects).toEqual([
    { Item: "Desk lamp", "Unit price": "$12.50" },
    { Item: "Rope", "Unit price": "" },
  ]);
  expect(found.columnCount).toBe(2);
  expect(found.averageConfidence).toBeCloseTo(0.8);
  expect(found.csv).toBe("Item,Unit price\r\nDesk lamp,$12.50\r\nRope,\r\n");
});

test("duplicate names are made distinct, and columns without a name are numbered", () => {
  const { headers } = table([
    ["Price", "", "Price", "Price_2", "Price"],
    ["1", "2", "3", "4", "5"],
  ]);
  expect(headers).toEqual(["Price", "column_2", "Price_2", "Price_2_2", "Price_3"]);
});

test("names that every object inherits cause no errors", () => {
  const found = table([
    ["__proto__", "constructor"],
    ["a", "b"],
  ]);
  expect(JSON.stringify(found.rowObjects)).toBe('[{"__proto__":"a","constructor":"b"}]');
});

test("a first row of values is not a header, but years may be names", () => {
  const numbers = table([
    ["Oslo", "12.5%"],
    ["Perth", "9.1%"],
  ]);
  expect([numbers.headers, numbers.rowObjects]).toEqual([[], []]);
  const years = table([
    ["Region", "2023", "2024"],
    ["North", "5", "7"],
  ]);
  expect(years.headers).toEqual(["Region", "2023", "2024"]);
  expect(table([["Only", "one row"]]).headers).toEqual([]);
});

test("names in two rows are joined, and a title above them is separate", () => {
  const found = table(
    [
      ["Sales of the year", null, null],
      ["City", "Half-year", null],
      [null, "first", "second"],
      ["Oslo", "1", "2"],
    ],
    { "Sales of the year": [1, 3], City: [2, 1], "Half-year": [1, 2] },
  );
  expect(found.headers).toEqual(["City", "Half-year first", "Half-year second"]);
  expect(found.rowObjects).toEqual([{ City: "Oslo", "Half-year first": "1", "Half-year second": "2" }]);
  expect(found.mergedCells).toEqual([
    { row: 0, column: 0, rowSpan: 1, columnSpan: 3 },
    { row: 1, column: 0, rowSpan: 2, columnSpan: 1 },
    { row: 1, column: 1, rowSpan: 1, columnSpan: 2 },
  ]);
  expect(found.rows[1]).toEqual(["City", "Half-year", ""]);
});

test("fields with commas, quotes and line breaks are quoted", () => {
  expect(
    csv([
      ["a,b", 'say "no"', "two\nlines", "plain"],
      ["", "é", " ", "1;2"],
    ]),
  ).toBe('"a,b","say ""no""","two\nlines",plain\r\n,é, ,1;2\r\n');
});

test("the work for a cell does not grow with the square of its text", () => {
  const found = table([
    ["Item", `${"0".repeat(1_000_000)}A0`],
    ["Desk lamp", "1"],
  ]);
  expect(found.headers).toHaveLength(2);
});
