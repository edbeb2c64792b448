// Distinguishes text in columns, and lists, from tables.

import { around } from "../boxes.ts";
import { median } from "../statistics.ts";
import type { FilledColumn, Row } from "./chunks.ts";

/** Minimum values of a column of text: words per line, filled share, and share of lines that begin in lower case. */
const TEXT = { words: 3, manyWords: 5, filled: 0.7, goesOn: 0.4 };
const MARKER = /^(?:[^\p{L}\p{Nd}]{1,2}|\(?(?:\p{Nd}{1,3}|\p{L}|[ivx]{1,4})[.):]{1,2})$/u;

/** Returns whether columns are text in columns, or a list with markers. */
export function isProse(columns: readonly FilledColumn[]): boolean {
  const kinds = columns.map(kindOf);
  const texts = kinds.filter((kind) => kind === "text").length;
  return texts > 1 || (texts === 1 && columns.length === 2 && kinds[0] === "text") || isList(kinds);
}

const isList = (kinds: readonly string[]): boolean => kinds.length === 2 && kinds[0] === "markers";

function kindOf(column: FilledColumn): "text" | "markers" | "cells" {
  if (isText(column)) return "text";
  const { rows } = column;
  return rows.length > 0 && rows.every((row) => MARKER.test(textOf(row))) ? "markers" : "cells";
}

/** Returns whether a column contains lines of text. */
export function isText({ left, right, rows }: FilledColumn): boolean {
  const lines = rows.map(textOf);
  const words = median(lines.map((text) => text.split(" ").length));
  const share = median(rows.map((row) => around(row.map(({ box }) => box)).width / (right - left)));
  const goesOn = lines.filter((text) => /^\p{Ll}/u.test(text)).length / lines.length;
  return share >= TEXT.filled && words >= TEXT.words && (goesOn >= TEXT.goesOn || words >= TEXT.manyWords);
}

const textOf = (row: Row): string => row.flatMap(({ words }) => words.map(({ text }) => text)).join(" ");
