// Handles pages with text in columns, where a table is inside one column or spans all.

import type { RecognizedWord } from "../../domain/recognition.ts";
import { columnsUnder, filled, stretchesOf, type Row } from "./chunks.ts";
import { isText } from "./prose.ts";

/** Maximum share of a page's rows that may span its columns: titles, and tables across the page. */
const ACROSS = 0.3;
/** In widths of a letter: what begins further to the right in a column belongs to a table across all columns. */
const INDENT = 2;
/** Minimum number of rows of a page with columns of text. */
const LEAST = 6;

/** Returns the words of each text column, then those that span columns; undefined for text in a single column. */
export function textColumns(rows: readonly Row[], letter: number): RecognizedWord[][] | undefined {
  const columns = stretchesOf(rows, Math.floor(ACROSS * rows.length), letter);
  const isPage = rows.length >= LEAST && columns.length > 1 && columns.length < 5;
  if (!isPage || !filled(columns, rows).every(isText)) return undefined;
  const parts: RecognizedWord[][] = Array.from({ length: columns.length + 1 }, () => []);
  for (const row of rows) {
    const places = row.map(({ box }) => columnsUnder(box, columns));
    const isWithin = places.every(([first, last], at) => {
      const isFirst = at === 0 || places[at - 1]?.[1] !== first;
      const indent = (row[at]?.box.x ?? 0) - (columns[first]?.left ?? 0);
      return first === last && (!isFirst || indent < INDENT * letter);
    });
    for (const [at, { words }] of row.entries())
      parts[isWithin ? (places[at]?.[0] ?? 0) : columns.length]?.push(...words);
  }
  return parts;
}
