// Formats tables for standard output.

import { withoutControls } from "../telemetry/log-line.ts";

/** Formats aligned columns under a header, for people and `awk`. Cells may come from other programs. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [head, ...rows.map((row) => row.map(withoutControls))];
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return table.map((row) => `${line(row).trimEnd()}\n`).join("");
}
