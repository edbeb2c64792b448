// Pages with text in columns: a table stands in one of them, or over all.

import type { RecognizedWord } from "../../domain/recognition.ts";
import { columnsUnder, stretchesOf, type Row } from "./chunks.ts";
import { isText } from "./prose.ts";

/** Share of a page's rows that may reach over its columns: titles, and tables over all. */
const ACROSS = 0.3;
/** Widths of a letter: what begins further to the right in a column is of a table over all of them. */
const INDENT = 2;
/** Rows of a page that has columns of text. */
const LEAST = 6;

/** The words of each column of text, and those of what reaches over them; undefined when text is in one column. */
export function textColumns(rows: readonly Row[], letter: number): RecognizedWord[][] | undefined {
  const columns = stretchesOf(rows, Math.floor(ACROSS * rows.length), letter);
  const isPage = rows.length >= LEAST && columns.length > 1 && columns.length < 5;
  if (!isPage || !columns.every((_, column) => isText(rows, columns, column))) return undefined;
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
