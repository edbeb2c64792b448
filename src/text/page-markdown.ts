// Renders a page as Markdown: paragraphs, and tables at their places.

import type { Box, RecognizedPage, RecognizedTable } from "../domain/recognition.ts";

/**
 * Matches up to the character that makes a line a heading, list, quotation, rule or code, or the line above it a heading.
 */
const LEADING = /^\s*(?:\d{1,9}(?=[.)](?:\s|$))|(?=[#>]|[-+*](?:\s|$)|(?:-+|=+|[_*](?:\s*[_*]){2,})\s*$|```|~~~))/;

/**
 * Returns a page as Markdown. Lines of a block stay separate lines. A table is at the place of its first word; its words
 * appear only there. `inPlace` renders a table.
 */
export function pageMarkdown(
  { lines, tables }: Pick<RecognizedPage, "lines" | "tables">,
  inPlace: (table: RecognizedTable) => string = tableMarkdown,
): string {
  const pieces: { readonly of: RecognizedTable | number; readonly texts: string[] }[] = [];
  const unplaced = new Set(tables);
  const place = (table: RecognizedTable) => {
    if (unplaced.delete(table)) pieces.push({ of: table, texts: [inPlace(table)] });
  };
  // Smallest first, since a table may lie inside a cell of another.
  const smallest = tables.toSorted((a, b) => a.box.width * a.box.height - b.box.width * b.box.height);
  for (const { block, words } of lines) {
    const parts = Map.groupBy(words, ({ box }) => smallest.find((table) => isWithin(box, table.box)));
    for (const [table, own] of parts) {
      if (table) {
        place(table);
        continue;
      }
      const last = pieces.at(-1);
      const text = escaped(own.map((word) => word.text).join(" "));
      if (last?.of === block) last.texts.push(text);
      else pieces.push({ of: block, texts: [text] });
    }
  }
  // A table may have only words that were recognised when its cells were read one by one.
  for (const table of unplaced) place(table);
  return pieces.map(({ texts }) => texts.join("\n")).join("\n\n");
}

/** Escapes only what would change the kind of the line: readers, above all models, take the rest literally. */
const escaped = (text: string): string => text.replace(LEADING, "$&\\");

/** Returns how many rows are above the data rows; 0 for a table without headers. */
export const headRows = ({ rows, headers, rowObjects }: RecognizedTable): number =>
  headers.length > 0 ? rows.length - rowObjects.length : 0;

/** Returns a table as Markdown. A title across all columns goes above the table; two head rows are merged into one. */
export function tableMarkdown(table: RecognizedTable): string {
  const { rows, headers, columnCount, mergedCells } = table;
  const above = headRows(table);
  const hasTitle = above > 1 && mergedCells.some(({ row, columnSpan }) => row === 0 && columnSpan === columnCount);
  const [title = []] = hasTitle ? rows : [];
  // `headers` has invented names for empty cells; a single head row has what is on the page. Markdown requires a head.
  const head = above === 1 ? (rows[0] ?? []) : headers;
  const width = Math.max(1, ...rows.map((row) => row.length));
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, at) => (cells[at] ?? "").replaceAll(/[\\|]/g, "\\$&")).join(" | ")} |`;
  const lines = [line(head), `|${" --- |".repeat(width)}`, ...rows.slice(above).map(line)].join("\n");
  return [...title.filter(Boolean).map(escaped), lines].join("\n\n");
}

function isWithin({ x, y, width, height }: Box, outer: Box): boolean {
  const [middleX, middleY] = [x + width / 2 - outer.x, y + height / 2 - outer.y];
  return middleX >= 0 && middleY >= 0 && middleX <= outer.width && middleY <= outer.height;
}
