// Distinguishes text in columns, and lists, from tables.

import { around } from "../boxes.ts";
import { median } from "../statistics.ts";
import { columnsUnder, type Column, type Row } from "./chunks.ts";

/** Minimum values of a column of text: words per line, filled share, and share of lines that begin in lower case. */
const TEXT = { words: 3, manyWords: 5, filled: 0.7, goesOn: 0.4 };
const MARKER = /^(?:[^\p{L}\p{Nd}]{1,2}|\(?(?:\p{Nd}{1,3}|\p{L}|[ivx]{1,4})[.):]{1,2})$/u;

/** Returns whether rows that keep to columns are text in columns, or a list with markers. */
export function isProse(rows: readonly Row[], columns: readonly Column[]): boolean {
  const kinds = columns.map((_, column) => kindOf(rows, columns, column));
  const texts = kinds.filter((kind) => kind === "text").length;
  return texts > 1 || (texts === 1 && columns.length === 2 && kinds[0] === "text") || isList(kinds);
}

const isList = (kinds: readonly string[]): boolean => kinds.length === 2 && kinds[0] === "markers";

function kindOf(rows: readonly Row[], columns: readonly Column[], column: number): "text" | "markers" | "cells" {
  if (isText(rows, columns, column)) return "text";
  const texts = textsIn(rows, columns, column).map(([text]) => text);
  return texts.length > 0 && texts.every((text) => MARKER.test(text)) ? "markers" : "cells";
}

/** Returns whether a column contains lines of text. */
export function isText(rows: readonly Row[], columns: readonly Column[], column: number): boolean {
  const { left, right } = columns[column] ?? { left: 0, right: 1 };
  const lines = textsIn(rows, columns, column);
  const words = median(lines.map(([text]) => text.split(" ").length));
  const filled = median(lines.map(([, width]) => width / (right - left)));
  const goesOn = lines.filter(([text]) => /^\p{Ll}/u.test(text)).length / lines.length;
  return filled >= TEXT.filled && words >= TEXT.words && (goesOn >= TEXT.goesOn || words >= TEXT.manyWords);
}

/** Returns the text of each row in a column, and its width in pixels. */
const textsIn = (rows: readonly Row[], columns: readonly Column[], column: number): [string, number][] =>
  rows
    .map((row) => row.filter(({ box }) => columnsUnder(box, columns)[0] === column))
    .filter((chunks) => chunks.length > 0)
    .map((chunks) => [
      chunks.flatMap(({ words }) => words.map(({ text }) => text)).join(" "),
      around(chunks.map(({ box }) => box)).width,
    ]);
