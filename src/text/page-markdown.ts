// A page as Markdown: paragraphs, and tables in their places.

import type { Box, RecognizedPage, RecognizedTable } from "../domain/recognition.ts";

/** Characters that would begin a heading, list, quotation, rule or code where a line begins with them. */
const LEADING = /^(\s*)([#>]|[-+*](?=\s|$)|\d{1,9}[.)](?=\s)|[-=_*]{3,}\s*$|```|~~~)/;

/**
 * Lines of a block stay lines; a table stands where its first line was read, and what is in it in that alone. `inPlace`: what
 * stands there.
 */
export function pageMarkdown(
  { lines, tables }: Pick<RecognizedPage, "lines" | "tables">,
  inPlace: (table: RecognizedTable) => string = tableMarkdown,
): string {
  const pieces = new Map<RecognizedTable | number, string[]>();
  for (const { text, box, block } of lines) {
    const table = tables.find((one) => isWithin(box, one.box));
    const piece = table ?? block;
    const texts = pieces.get(piece);
    if (!texts) pieces.set(piece, [table ? inPlace(table) : escaped(text)]);
    else if (!table) texts.push(escaped(text));
  }
  return [...pieces.values()].map((texts) => texts.join("\n")).join("\n\n");
}

/** What would make another thing of the line is escaped; readers, models above all, take the rest as it stands. */
const escaped = (text: string): string =>
  text.replace(LEADING, (_, space: string, mark: string) => `${space}\\${mark}`);

/** How many rows stand above those that the headers name. */
export const headRows = ({ rows, headers, rowObjects }: RecognizedTable): number =>
  headers.length > 0 ? rows.length - rowObjects.length : 0;

/** A title that reaches over all columns stands above; a head of two rows becomes one, as a table has only one. */
export function tableMarkdown(table: RecognizedTable): string {
  const { rows, headers, columnCount, mergedCells } = table;
  const above = headRows(table);
  const hasTitle = above > 1 && mergedCells.some(({ row, columnSpan }) => row === 0 && columnSpan === columnCount);
  const [title = []] = hasTitle ? rows : [];
  // Names are made up where a cell is empty: the row itself has what is on the page. A table must have a head: without one it is empty.
  const head = above === 1 ? (rows[0] ?? []) : headers;
  const width = Math.max(1, ...rows.map((row) => row.length));
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, at) => (cells[at] ?? "").replaceAll(/[\\|]/g, "\\$&").replaceAll(/\s+/g, " ")).join(" | ")} |`;
  const lines = [line(head), `|${" --- |".repeat(width)}`, ...rows.slice(above).map(line)].join("\n");
  return [...title.filter(Boolean).map(escaped), lines].join("\n\n");
}

function isWithin({ x, y, width, height }: Box, outer: Box): boolean {
  const [middleX, middleY] = [x + width / 2 - outer.x, y + height / 2 - outer.y];
  return middleX >= 0 && middleY >= 0 && middleX <= outer.width && middleY <= outer.height;
}
