// Finds the names of a table's columns.

import type { MergedCell } from "../../domain/recognition.ts";

interface Headers {
  /** One per column, all different; empty when the first rows do not look like names. */
  readonly names: readonly string[];
  /** The first row after the headers. */
  readonly below: number;
}

type Rows = readonly (readonly string[])[];

/** Digits with at most a unit (a number, amount, share or date) are not a name, except for a year. */
const VALUE = /^[^\p{L}\p{Nd}]*\p{Nd}[^\p{L}]*(?:\p{L}{1,3}[^\p{L}\p{Nd}]*)?$/u;
const YEAR = /^(?:1[89]|20)\p{Nd}{2}$/u;

/** Finds headers in the first row, or in two if cells of the first span several columns or reach into the second. */
export function headersOf(rows: Rows, merged: readonly MergedCell[]): Headers {
  const none = { names: [], below: 0 };
  const columns = rows[0]?.length ?? 0;
  const hasTitle = merged.some(({ row, columnSpan }) => row === 0 && columnSpan === columns);
  const top = hasTitle ? 1 : 0;
  const depth = merged.some(({ row }) => row === top) ? 2 : 1;
  const below = top + depth;
  if (below >= rows.length) return none;
  const texts = Array.from({ length: columns }, (_, column) => {
    const covering = rows.slice(top, below).map((_row, at) => covered(rows, merged, top + at, column));
    return [...new Set(covering)].filter((text) => text !== "").join(" ");
  });
  const filled = texts.filter((text) => text !== "");
  if (filled.length * 2 < columns) return none;
  if (filled.some((text) => VALUE.test(text) && !YEAR.test(text))) return none;
  return { names: different(texts), below };
}

/** Returns the text of the cell that covers a place. */
function covered(rows: Rows, merged: readonly MergedCell[], row: number, column: number): string {
  const over = merged.find(
    (one) =>
      one.row <= row && row < one.row + one.rowSpan && one.column <= column && column < one.column + one.columnSpan,
  );
  return rows[over?.row ?? row]?.[over?.column ?? column] ?? "";
}

/** Empty names become `column_` and a number; repeated ones get `_2` and so on. */
function different(texts: readonly string[]): string[] {
  const used = new Set<string>();
  return texts.map((text, column) => {
    const plain = text === "" ? `column_${column + 1}` : text;
    let name = plain;
    for (let count = 2; used.has(name); count++) name = `${plain}_${count}`;
    used.add(name);
    return name;
  });
}
