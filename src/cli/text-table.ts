// Formats tables for standard output.

import { withoutControls } from "../telemetry/log-line.ts";

const GAP = "  ";
/** Where the last column has less room than this many columns, it goes below the others, with this indentation. */
const NARROW = { room: 20, indent: 4 };

/**
 * Formats aligned columns under a header, for people and `awk`. Cells may come from other programs. The last column
 * continues on further lines to fit into `width` columns.
 */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[], width = Infinity): string {
  const table = [head, ...rows.map((row) => row.map(withoutControls))];
  const widths = head.slice(0, -1).map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const start = widths.reduce((sum, one) => sum + one + GAP.length, 0);
  const isBelow = width - start < NARROW.room;
  const indent = isBelow ? NARROW.indent : start;
  const lines = (row: readonly string[]) => {
    const left = widths.map((one, column) => (row[column] ?? "").padEnd(one) + GAP).join("");
    const last = wrapped(row[widths.length] ?? "", width - indent);
    const [first = "", ...below] = isBelow ? ["", ...last] : last;
    return [left + first, ...below.map((line) => " ".repeat(indent) + line)];
  };
  return table.flatMap((row) => lines(row).map((line) => `${line.trimEnd()}\n`)).join("");
}

const wrapped = (text: string, width: number): string[] =>
  text === "" ? [] : width === Infinity ? [text] : Bun.wrapAnsi(text, width).split("\n");
