import { expect, test } from "bun:test";
import { marked } from "marked";
import { linesOf } from "../../src/recognition/lines.ts";
import { pageMarkdown } from "../../src/text/page-markdown.ts";
import type { RecognizedLine, RecognizedTable } from "../../src/domain/recognition.ts";

/** A line of words that are 20 wide, the first at `x`. */
function line(text: string, y: number, block = 0, x = 10): RecognizedLine {
  const words = text.split(" ").map((word, at) => {
    return { text: word, confidence: 1, box: { x: x + 25 * at, y, width: 20, height: 10 }, line: 0, block };
  });
  return linesOf(words)[0] as RecognizedLine;
}
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
  const marks = ["# 7 things", "- item", "1. item", "12) item", "3.", "> said", "---", "--", "=", "==", "_ _ _", "```"];
  const texts = [...marks, "snake_case * 2", "1.5 EUR", "-5 °C", "#tag", "1 2. item"];
  for (const text of texts) {
    for (const above of [[], ["Above"]]) {
      const lines = [...above, text].map((one, at) => line(one, at * 12));
      const html = marked.parse(pageMarkdown({ lines, tables: [] }), { async: false });
      expect(html).toBe(`<p>${Bun.escapeHTML([...above, text].join("\n"))}</p>\n`);
    }
  }
  const unchanged = "snake_case * 2\n1.5 EUR\n-5 °C";
  const lines = unchanged.split("\n").map((text, at) => line(text, at * 12));
  expect(pageMarkdown({ lines, tables: [] })).toBe(unchanged);
});

test("text after and beside a table stays there, and its block goes on", () => {
  const rows = [
    ["a", "1"],
    ["b", "2"],
  ];
  const tables = [{ ...table(30, [], rows), box: { x: 0, y: 30, width: 60, height: 40 } }];
  const inside = [line("a 1", 32), line("b 2", 44)];
  const tableText = pageMarkdown({ lines: inside, tables });
  const around = [line("Before", 0), ...inside, line("After", 90)];
  expect(pageMarkdown({ lines: around, tables })).toBe(`Before\n\n${tableText}\n\nAfter`);
  const beside = [line("a 1 a long remark beside it", 32), line("b 2 that goes on", 44)];
  const remark = "a long remark beside it\nthat goes on";
  expect(pageMarkdown({ lines: beside, tables })).toBe(`${tableText}\n\n${remark}`);
  const left = [line("left a 1 right", 32, 0, -15)];
  expect(pageMarkdown({ lines: left, tables })).toBe(`left right\n\n${tableText}`);
});

test("a table inside a cell of another is where its words are", () => {
  const outer = { ...table(30, [], [["outer"]]), box: { x: 0, y: 30, width: 200, height: 100 } };
  const inner = { ...table(60, [], [["inner"]]), box: { x: 0, y: 60, width: 100, height: 40 } };
  const lines = [line("Before", 0), line("outer", 40), line("inner", 70), line("After", 150)];
  const text = pageMarkdown({ lines, tables: [outer, inner] }, ({ rows }) => `TABLE ${rows[0]?.[0]}`);
  expect(text).toBe("Before\n\nTABLE outer\n\nTABLE inner\n\nAfter");
});

test("a table without a word of a line is at the end", () => {
  const page = { lines: [line("Text", 100)], tables: [table(0, [], [["a"]])] };
  expect(pageMarkdown(page, () => "TABLE")).toBe("Text\n\nTABLE");
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
