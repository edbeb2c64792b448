// Groups adjacent words of a row into chunks, and finds the columns that rows of chunks form.

import type { Box, RecognizedWord } from "../../domain/recognition.ts";
import { around } from "../boxes.ts";
import { median } from "../statistics.ts";

/** Adjacent words with no more than spaces between them. */
export interface Chunk {
  readonly box: Box;
  readonly words: readonly RecognizedWord[];
}

export type Row = readonly Chunk[];

/** Horizontal extent in pixels. */
export interface Column {
  readonly left: number;
  readonly right: number;
}

export interface FilledColumn extends Column {
  /** What each row has in the column; rows without any are left out. */
  readonly rows: readonly Row[];
}

/** In widths of a letter: the widest space, and the minimum gap between columns. */
const SPACE = 1.6;
const GUTTER = 1;
/** Minimum share of the rows that must have enough chunks to define columns. */
const COMMON = 0.4;
/** From this number of such rows on, one row may disagree. */
const TOLERANT = 6;

/** Returns the median width of letters in pixels. */
export const letterWidth = (words: readonly RecognizedWord[]): number =>
  median(words.map(({ text, box }) => box.width / Math.max(1, [...text].length)));

/** Splits a row of words at gaps wider than a space. */
export function chunksOf(row: readonly RecognizedWord[], letter: number): Chunk[] {
  const parts: RecognizedWord[][] = [];
  let end = -Infinity;
  for (const word of row) {
    if (word.box.x - end > SPACE * letter) parts.push([]);
    parts.at(-1)?.push(word);
    end = Math.max(end, word.box.x + word.box.width);
  }
  return parts.map((words) => ({ words, box: around(words.map(({ box }) => box)) }));
}

/** Returns the columns that most rows keep to: at least two, or none. */
export function columnsOf(rows: readonly Row[], letter: number): Column[] {
  let best: Column[] = [];
  for (const count of new Set(rows.map((row) => row.length))) {
    const full = rows.filter((row) => row.length >= count);
    if (count < 2 || full.length < Math.max(2, COMMON * rows.length)) continue;
    for (const stray of full.length >= TOLERANT ? [0, 1] : [0]) {
      const found = stretchesOf(full, stray, letter);
      if (found.length > best.length && found.length <= count + 1) best = found;
    }
  }
  return best.length < 2 ? [] : best;
}

/** Returns the stretches that more than `stray` rows cover, with gutters between them. */
export function stretchesOf(rows: readonly Row[], stray: number, letter: number): Column[] {
  const gutter = GUTTER * letter;
  const edges = rows.flatMap((row) =>
    row.flatMap(({ box }) => [
      { x: box.x, step: 1 },
      { x: box.x + box.width, step: -1 },
    ]),
  );
  const found: { left: number; right: number }[] = [];
  let depth = 0;
  for (const { x, step } of edges.sort((a, b) => a.x - b.x || b.step - a.step)) {
    const before = depth;
    depth += step;
    const last = found.at(-1);
    if (before <= stray && depth > stray) {
      if (!last || x - last.right >= gutter) found.push({ left: x, right: x });
    } else if (before > stray && depth <= stray && last) last.right = x;
  }
  return found;
}

/** Returns the first and last column that a box overlaps; the closest one when it overlaps none. */
export function columnsUnder({ x, width }: Box, columns: readonly Column[]): readonly [number, number] {
  const first = columns.findIndex(({ right }) => right > x);
  const last = columns.findLastIndex(({ left }) => left < x + width);
  if (first !== -1 && first <= last) return [first, last];
  const before = x - (columns[last]?.right ?? -Infinity);
  const after = (columns[first]?.left ?? Infinity) - (x + width);
  const closest = before <= after ? last : first;
  return [closest, closest];
}

/** Returns the columns, each with the rows of the chunks that begin there. */
export function filled(columns: readonly Column[], rows: readonly Row[]): FilledColumn[] {
  const found = columns.map(({ left, right }) => ({ left, right, rows: [] as Row[] }));
  for (const row of rows) {
    for (const [at, chunks] of Map.groupBy(row, ({ box }) => columnsUnder(box, columns)[0]))
      found[at]?.rows.push(chunks);
  }
  return found;
}
