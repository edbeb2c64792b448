import { expect, test } from "bun:test";
import { unruledTables } from "../../../src/recognition/tables/unruled.ts";
import { tableHtml } from "../../../src/text/table-html.ts";
import { words } from "../drawing.ts";

/** Returns the words of a table: rows of texts at columns, `pitch` pixels apart. */
const grid = (rows: readonly (readonly string[])[], columns: readonly number[], top = 0, pitch = 26) =>
  words(
    rows.flatMap((row, at) =>
      row.flatMap((text, column) => (text === "" ? [] : [[columns[column] ?? 0, top + at * pitch, text] as const])),
    ),
  );

const ITEMS = [
  ["Item", "Count", "Price"],
  ["Desk lamp", "4", "$12.50"],
  ["Rope", "120", "$3.10"],
  ["Oak shelf", "7", "$99.00"],
];

test("words in columns are a table", () => {
  const { tables, rest } = unruledTables(grid(ITEMS, [0, 150, 260], 40));
  expect(tables.map(({ rows }) => rows)).toEqual([ITEMS]);
  expect(tables[0]?.headers).toEqual(["Item", "Count", "Price"]);
  expect(tables[0]?.box).toEqual({ x: 0, y: 40, width: 320, height: 94 });
  expect(rest).toEqual([]);
});

test("right-aligned numbers and empty cells stay in their columns", () => {
  const rows = [
    ["Oslo", "8", "", "open"],
    ["Perth", "1,220", "12%", ""],
    ["Kyoto", "35", "7%", "closed"],
    ["Lima", "", "3%", "open"],
  ];
  const placed = rows.flatMap(([city = "", count = "", share = "", state = ""], at) => {
    const y = at * 26;
    return [
      [0, y, city],
      [180 - 10 * count.length, y, count],
      [250 - 10 * share.length, y, share],
      [300, y, state],
    ] as const;
  });
  const { tables } = unruledTables(words(placed.filter(([, , text]) => text !== "")));
  expect(tables.map((table) => table.rows)).toEqual([rows]);
});

test("the text above and below a table is not part of it", () => {
  const text = "this line of text goes over the whole width of the page";
  const page = [...words([[0, 0, text]]), ...grid(ITEMS, [0, 200, 400], 40), ...words([[0, 160, text]])];
  const { tables, rest } = unruledTables(page);
  expect(tables.map(({ rows }) => rows)).toEqual([ITEMS]);
  expect(rest).toHaveLength(2 * text.split(" ").length);
});

test("two tables with text between them stay separate", () => {
  const text = "and now for a line of text as long as the page is wide";
  const page = [
    ...grid(ITEMS, [0, 200, 400]),
    ...words([[0, 116, text]]),
    ...grid(ITEMS.slice(0, 3), [0, 150, 420], 150),
  ];
  expect(unruledTables(page).tables.map(({ rows }) => rows)).toEqual([ITEMS, ITEMS.slice(0, 3)]);
});

test("lines of a cell that are closer together than rows are one cell", () => {
  const page = words([
    [0, 0, "Name"],
    [200, 0, "Address"],
    [400, 0, "Age"],
    [0, 50, "Ann"],
    [200, 50, "Mill Lane"],
    [400, 50, "31"],
    [200, 70, "Oxford"],
    [0, 120, "Bob"],
    [200, 120, "High Road"],
    [400, 120, "45"],
    [200, 140, "York"],
  ]);
  expect(unruledTables(page).tables[0]?.rows).toEqual([
    ["Name", "Address", "Age"],
    ["Ann", "Mill Lane Oxford", "31"],
    ["Bob", "High Road York", "45"],
  ]);
});

test("a cell of as many lines as a page may have is one cell", () => {
  const lines = Array.from({ length: 19_900 }, (_, at) => [150, 94 + 16 * at, "7"] as const);
  const { tables, rest } = unruledTables([...grid(ITEMS, [0, 150, 260]), ...words(lines)]);
  expect(tables.map(({ rows }) => rows.length)).toEqual([4]);
  expect(tables[0]?.rows[3]?.[1]).toHaveLength(2 * 19_900 + 1);
  expect(rest).toEqual([]);
});

test("a cell that spans two columns is one cell", () => {
  const rows = [["", "Sales", ""], ...ITEMS.map(([a = "", b = "", c = ""]) => [a, b, c])];
  const page = [...words([[130, 0, "Sales of this year"]]), ...grid(ITEMS, [0, 150, 260], 26)];
  const [table] = unruledTables([...words([[0, 0, "Place"]]), ...page]).tables;
  expect(table?.mergedCells).toEqual([{ row: 0, column: 1, rowSpan: 1, columnSpan: 2 }]);
  expect(table?.rows).toHaveLength(rows.length);
});

test("a label that reaches below columns with cells of its row leaves them theirs", () => {
  const items = grid(
    [
      ["Item", "Count", "Amount in EUR"],
      ["Desk lamp", "4", "$12.50"],
      ["Rope", "120", "$3.10"],
      ["Oak shelf", "7", "$99.00"],
    ],
    [0, 150, 250],
  );
  const last = words([
    [0, 104, "Total of all the goods above"],
    [310, 104, "$372.00"],
  ]);
  const { tables } = unruledTables([...items, ...last]);
  expect(tables.map(({ mergedCells }) => mergedCells)).toEqual([[{ row: 4, column: 0, rowSpan: 1, columnSpan: 2 }]]);
  expect(tables.map(tableHtml).join("")).toContain('<td colspan="2">Total of all the goods above</td><td>$372.00</td>');
});

const GOODS = [
  ["Item", "Count", "Price", "Total"],
  ["Rope", "120", "$3.10", "$372.00"],
  ["Oak shelf", "7", "$99.00", "$693.00"],
];
const PLACES = [0, 150, 260, 360];

test("an address and a date just above a table are not part of it", () => {
  const address = [
    ["Green Gardens", "Invoice 117"],
    ["Mill Lane", "May 3"],
    ["Oxford", "Customer 8841"],
  ];
  const { tables } = unruledTables([...grid(address, [0, 260]), ...grid(GOODS, PLACES, 78)]);
  expect(tables.map(({ rows }) => rows)).toEqual([address, GOODS]);
});

test("a row with the names of groups of columns is part of the table below it", () => {
  const names = words([
    [150, 0, "Goods of May"],
    [360, 0, "Sum"],
  ]);
  const { tables } = unruledTables([...names, ...grid(GOODS, PLACES, 26)]);
  expect(tables.map(({ rows }) => rows)).toEqual([[["", "Goods of May", "", "Sum"], ...GOODS]]);
  expect(tables[0]?.mergedCells).toEqual([{ row: 0, column: 1, rowSpan: 1, columnSpan: 2 }]);
});

const LEFT = [
  "the harbour opens at seven",
  "and closes when the last",
  "ferry has left the pier",
  "in the late evening hours",
  "of a summer day like this",
];
const RIGHT = [
  "she wrote to the council",
  "in march and then in may",
  "but never had an answer",
  "from anyone who works in",
  "the town hall over there",
];

test("text in two columns is not a table", () => {
  const page = grid(
    LEFT.map((left, at) => [left, RIGHT[at] ?? ""]),
    [0, 330],
  );
  const { tables, rest } = unruledTables(page);
  expect(tables).toEqual([]);
  expect(new Set(rest)).toEqual(new Set(page));
});

test("a table in one of two columns of text is found, and so is one across both", () => {
  const text = [...LEFT, ...RIGHT, ...LEFT, ...RIGHT];
  const left = grid(
    text.map((line) => [line]),
    [0],
  );
  const right = grid(
    text.slice(0, 12).map((line) => [line]),
    [330],
  );
  const inside = grid(ITEMS, [330, 450, 540], 12 * 26);
  const below = grid(
    text.slice(0, 3).map((line) => [line]),
    [330],
    17 * 26,
  );
  expect(unruledTables([...left, ...right, ...inside, ...below]).tables.map(({ rows }) => rows)).toEqual([ITEMS]);
  const over = grid(
    ITEMS.map((row) => [...row, "of the year"]),
    [0, 250, 360, 480],
    20 * 26,
  );
  const found = unruledTables([...left, ...right, ...over]).tables.map(({ rows }) => rows);
  expect(found).toEqual([ITEMS.map((row) => [...row, "of the year"])]);
});

test("a list with its numbers or dots is not a table", () => {
  for (const marker of ["1.", "•", "(a)"]) {
    const page = grid(
      LEFT.map((line) => [marker, line]),
      [0, 60],
    );
    expect(unruledTables(page).tables).toEqual([]);
  }
});

test("a paragraph is not a table, and neither is an empty page", () => {
  expect(
    unruledTables(
      grid(
        LEFT.map((line) => [line]),
        [0],
      ),
    ).tables,
  ).toEqual([]);
  expect(unruledTables([])).toEqual({ tables: [], inside: [], rest: [] });
});
