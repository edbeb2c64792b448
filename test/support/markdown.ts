// Markdown tables as the formatter writes them.

/** Returns the lines of a table; with `numbers`, all columns except the first and the last are aligned right. */
export function paddedTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { numbers = false } = {},
): string[] {
  const lengthOf = (cell = "") => [...cell].length;
  const isNumber = (column: number) => numbers && column > 0 && column < head.length - 1;
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((cells) => lengthOf(cells[column]))));
  const rule = widths.map((width, column) => (isNumber(column) ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  const pad = (cell: string, column: number) => {
    const space = " ".repeat((widths[column] ?? 0) - lengthOf(cell));
    return isNumber(column) ? space + cell : cell + space;
  };
  return [head.map(pad), rule, ...rows.map((cells) => cells.map(pad))].map((cells) => `| ${cells.join(" | ")} |`);
}
