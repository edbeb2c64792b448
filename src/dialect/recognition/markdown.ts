// A page as Markdown: paragraphs, and tables in their places.

import type { RecognizedLine, RecognizedPage, RecognizedTable } from "../../domain/recognition.ts";
import type { Box } from "../../recognition/bitmap.ts";

/** Characters that would begin a heading, list, quotation, rule or code where a line begins with them. */
const LEADING = /^(\s*)([#>]|[-+*](?=\s|$)|\d{1,9}[.)](?=\s)|[-=_*]{3,}\s*$|```|~~~)/;

interface Piece {
  readonly top: number;
  readonly text: string;
}

/** Lines of a block stay lines; what stands in a table is in that alone. */
export function pageMarkdown({ lines, tables }: Pick<RecognizedPage, "lines" | "tables">): string {
  const blocks = Map.groupBy(
    lines.filter(({ box }) => !tables.some((table) => isWithin(box, table.box))),
    ({ block }) => block,
  );
  const pieces: Piece[] = [...blocks.values()].map(paragraph);
  for (const table of tables) {
    // Before the first paragraph that is below it: columns keep their order.
    const at = pieces.findIndex(({ top }) => top >= table.box.y + table.box.height / 2);
    pieces.splice(at < 0 ? pieces.length : at, 0, { top: table.box.y, text: tableMarkdown(table) });
  }
  return pieces.map(({ text }) => text).join("\n\n");
}

const paragraph = (lines: readonly RecognizedLine[]): Piece => ({
  top: lines[0]?.box.y ?? 0,
  text: lines.map(({ text }) => escaped(text)).join("\n"),
});

/** What would make another thing of the line is escaped; readers, models above all, take the rest as it stands. */
const escaped = (text: string): string =>
  text.replace(LEADING, (_, space: string, mark: string) => `${space}\\${mark}`);

function tableMarkdown({ rows, headers }: RecognizedTable): string {
  const width = Math.max(1, ...rows.map((row) => row.length));
  const [first = [], ...rest] = rows;
  // A table must have a head: without one it is empty.
  const [head, body] = headers.length > 0 ? [first, rest] : [[], rows];
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, at) => (cells[at] ?? "").replaceAll(/[\\|]/g, "\\$&").replaceAll(/\s+/g, " ")).join(" | ")} |`;
  return [line(head), `|${" --- |".repeat(width)}`, ...body.map(line)].join("\n");
}

function isWithin({ x, y, width, height }: Box, outer: Box): boolean {
  const [middleX, middleY] = [x + width / 2 - outer.x, y + height / 2 - outer.y];
  return middleX >= 0 && middleY >= 0 && middleX <= outer.width && middleY <= outer.height;
}
