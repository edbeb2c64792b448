// Renders a recognised table as HTML.

import type { RecognizedTable } from "../domain/recognition.ts";
import { headRows } from "./page-markdown.ts";

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Returns a table as HTML, with merged cells, and with the rows above the data rows as header cells. */
export function tableHtml(table: RecognizedTable): string {
  const { rows, mergedCells } = table;
  const headed = headRows(table);
  const merged = new Map(mergedCells.map((cell) => [`${cell.row} ${cell.column}`, cell]));
  const covered = new Set<string>();
  for (const { row, column, rowSpan, columnSpan } of mergedCells) {
    for (let at = 1; at < rowSpan * columnSpan; at++) {
      covered.add(`${row + Math.floor(at / columnSpan)} ${column + (at % columnSpan)}`);
    }
  }
  const cellAt = (text: string, row: number, column: number): string => {
    const place = `${row} ${column}`;
    if (covered.has(place)) return "";
    const name = row < headed ? "th" : "td";
    const { rowSpan = 1, columnSpan = 1 } = merged.get(place) ?? {};
    const spans = `${rowSpan > 1 ? ` rowspan="${rowSpan}"` : ""}${columnSpan > 1 ? ` colspan="${columnSpan}"` : ""}`;
    return `<${name}${spans}>${escaped(text)}</${name}>`;
  };
  const lines = rows.map((cells, row) => `<tr>${cells.map((text, column) => cellAt(text, row, column)).join("")}</tr>`);
  return `<table>${lines.join("")}</table>`;
}

const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? "");
