import { expect, test } from "bun:test";
import { pageMarkdown } from "../../src/text/page-markdown.ts";
import type { RecognizedLine, RecognizedTable } from "../../src/domain/recognition.ts";

const line = (text: string, y: number, block = 0): RecognizedLine => ({
  text,
  confidence: 1,
  box: { x: 10, y, width: 100, height: 10 },
  block,
  words: [],
});
const table = (y: number, headers: readonly string[], rows: readonly (readonly string[])[]): RecognizedTable => ({
  box: { x: 0, y, width: 200, height: 40 },
  rows,
  columnCount: rows[0]?.length ?? 0,
  headers,
  rowObjects: headers.length > 0 ? rows.slice(1).map(() => ({})) : [],
  mergedCells: [],
  averageConfidence: 1,
  csv: "",
});

test("blocks become paragraphs, and lines stay lines", () => {
  const lines = [line("One", 0), line("and one.", 12), line("Two", 40, 1)];
  expect(pageMarkdown({ lines, tables: [] })).toBe("One\nand one.\n\nTwo");
  expect(pageMarkdown({ lines: [], tables: [] })).toBe("");
});

test("text at the beginning of a line is not mistaken for markup", () => {
  const texts = [
    "# 7 things",
    "- item",
    "1. item",
    "> said",
    "---",
    "```",
    "snake_case * 2",
    "1.5 EUR",
    "-5 °C",
    "#tag",
  ];
  const lines = texts.map((text, at) => line(text, at * 12));
  expect(pageMarkdown({ lines, tables: [] }).split("\n")).toEqual([
    "\\# 7 things",
    "\\- item",
    "\\1. item",
    "\\> said",
    "\\---",
    "\\```",
    "snake_case * 2",
    "1.5 EUR",
    "-5 °C",
    "\\#tag",
  ]);
});

test("a table is between the paragraphs around it, without its lines", () => {
  const lines = [line("Before", 0), line("a 1", 32, 1), line("b | c", 44, 1), line("After", 90, 2)];
  const rows = [
    ["Name", "Count"],
    ["a", "1"],
    ["b | c", ""],
  ];
  const withHead = "| Name | Count |\n| --- | --- |\n| a | 1 |\n| b \\| c |  |";
  expect(pageMarkdown({ lines, tables: [table(30, ["Name", "Count"], rows)] })).toBe(`Before\n\n${withHead}\n\nAfter`);
  const bare = "|  |  |\n| --- | --- |\n| Name | Count |\n| a | 1 |\n| b \\| c |  |";
  expect(pageMarkdown({ lines: lines.slice(0, 3), tables: [table(30, [], rows)] })).toBe(`Before\n\n${bare}`);
});

test("a table's title is a paragraph above it, and its header is one row", () => {
  const rows = [
    ["Sales", "", ""],
    ["Name", "2024", ""],
    ["", "Spring", "Autumn"],
    ["a", "1", "2"],
  ];
  const titled: RecognizedTable = {
    ...table(0, ["Name", "2024 Spring", "2024 Autumn"], rows),
    rowObjects: [{ Name: "a", "2024 Spring": "1", "2024 Autumn": "2" }],
    mergedCells: [
      { row: 0, column: 0, rowSpan: 1, columnSpan: 3 },
      { row: 1, column: 0, rowSpan: 2, columnSpan: 1 },
      { row: 1, column: 1, rowSpan: 1, columnSpan: 2 },
    ],
  };
  const inTable = [line("Sales", 1)];
  const body = "| Name | 2024 Spring | 2024 Autumn |\n| --- | --- | --- |\n| a | 1 | 2 |";
  expect(pageMarkdown({ lines: inTable, tables: [titled] })).toBe(`Sales\n\n${body}`);
  const [, ...untitled] = rows;
  const two = { ...titled, rows: untitled, mergedCells: [{ row: 0, column: 1, rowSpan: 1, columnSpan: 2 }] };
  expect(pageMarkdown({ lines: inTable, tables: [two] })).toBe(body);
});

test("empty cells of a header stay empty", () => {
  const named = table(
    0,
    ["column_1", "Sum"],
    [
      ["", "Sum"],
      ["a", "1"],
    ],
  );
  expect(pageMarkdown({ lines: [line("a", 1)], tables: [named] })).toBe("|  | Sum |\n| --- | --- |\n| a | 1 |");
});
