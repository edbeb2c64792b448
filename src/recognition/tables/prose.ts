// Text in columns and lists, told from tables.

import { median } from "../statistics.ts";
import { columnsUnder, type Column, type Row } from "./chunks.ts";

/** A column of text: so many words a line, which fill so much of it, and go on with small letters so often. */
const TEXT = { words: 3, manyWords: 5, filled: 0.7, goesOn: 0.4 };
const MARKER = /^(?:[^\p{L}\p{Nd}]{1,2}|\(?(?:\p{Nd}{1,3}|\p{L}|[ivx]{1,4})[.):]{1,2})$/u;

/** Whether rows that keep to columns are text in columns, or a list with its markers. */
export function isProse(rows: readonly Row[], columns: readonly Column[]): boolean {
  const kinds = columns.map((_, column) => kindOf(rows, columns, column));
  const texts = kinds.filter((kind) => kind === "text").length;
  return texts > 1 || (texts === 1 && columns.length === 2 && kinds[0] === "text") || isList(kinds);
}

const isList = (kinds: readonly string[]): boolean => kinds.length === 2 && kinds[0] === "markers";

function kindOf(rows: readonly Row[], columns: readonly Column[], column: number): "text" | "markers" | "cells" {
  const within = columns[column];
  const chunks = rows.flatMap((row) => row.filter(({ box }) => columnsUnder(box, columns)[0] === column));
  if (!within || chunks.length === 0) return "cells";
  const texts = chunks.map(({ words }) => words.map(({ text }) => text).join(" "));
  if (texts.every((text) => MARKER.test(text))) return "markers";
  const words = median(chunks.map((chunk) => chunk.words.length));
  const filled = median(chunks.map(({ box }) => box.width / (within.right - within.left)));
  const goesOn = texts.filter((text) => /^\p{Ll}/u.test(text)).length / texts.length;
  const isText = filled >= TEXT.filled && words >= TEXT.words && (goesOn >= TEXT.goesOn || words >= TEXT.manyWords);
  return isText ? "text" : "cells";
}
