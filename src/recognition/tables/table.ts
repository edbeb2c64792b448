// Builds a table for the response: rows of text, rows by column name, and CSV.

import type { Box, MergedCell, RecognizedTable, RecognizedWord } from "../../domain/recognition.ts";
import { headersOf } from "./headers.ts";

/** A cell with its words in reading order. */
export interface Cell extends MergedCell {
  readonly words: readonly RecognizedWord[];
}

/** Builds a table of this size from its cells. */
export function makeTable(box: Box, rowCount: number, columnCount: number, cells: readonly Cell[]): RecognizedTable {
  const rows = Array.from({ length: rowCount }, () => Array.from({ length: columnCount }, () => ""));
  for (const { row, column, words } of cells) {
    const texts = rows[row];
    if (texts) texts[column] = words.map(({ text }) => text).join(" ");
  }
  const merged = cells.filter(({ rowSpan, columnSpan }) => rowSpan * columnSpan > 1);
  const { names, below } = headersOf(rows, merged);
  const words = cells.flatMap((cell) => cell.words);
  return {
    box,
    rows,
    columnCount,
    headers: names,
    rowObjects: names.length === 0 ? [] : rows.slice(below).map((texts) => byName(names, texts)),
    mergedCells: merged.map(({ row, column, rowSpan, columnSpan }) => ({ row, column, rowSpan, columnSpan })),
    averageConfidence: words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length),
    csv: csv(rows),
  };
}

const byName = (names: readonly string[], texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name, column) => [name, texts[column] ?? ""]));

/** Formats rows as comma-separated values (RFC 4180); all lines end with CR LF, including the last. */
export const csv = (rows: readonly (readonly string[])[]): string =>
  rows.map((texts) => `${texts.map(csvField).join(",")}\r\n`).join("");

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
