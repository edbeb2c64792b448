// Sorts words as a reader meets them: lines from the top, words from where their script begins.

import type { Box, RecognizedWord } from "../domain/recognition.ts";

/** Minimum overlap of two boxes in one row, as a share of the smaller box's height. */
const BESIDE = 0.5;

/** Groups adjacent boxes into rows, whatever line or block they were recognised in; each row from left to right. */
export function rowsOf<One extends { readonly box: Box }>(boxes: readonly One[]): One[][] {
  const sorted = boxes.toSorted((a, b) => middle(a.box) - middle(b.box));
  const rows: { top: number; bottom: number; boxes: One[] }[] = [];
  for (const one of sorted) {
    const row = rows.at(-1);
    const [top, bottom] = [one.box.y, one.box.y + one.box.height];
    const shared = row ? Math.min(row.bottom, bottom) - Math.max(row.top, top) : 0;
    if (row && shared >= BESIDE * Math.min(bottom - top, row.bottom - row.top)) {
      // The row's extent is the mean of its boxes, so that a high one does not pull in the next row.
      const count = row.boxes.push(one);
      row.top += (top - row.top) / count;
      row.bottom += (bottom - row.bottom) / count;
    } else rows.push({ top, bottom, boxes: [one] });
  }
  return rows.map((row) => row.boxes.sort((a, b) => a.box.x - b.box.x));
}

const middle = ({ y, height }: Box): number => y + height / 2;

/** Sorts the words of one column of text. */
export const inReadingOrder = (words: readonly RecognizedWord[]): RecognizedWord[] =>
  rowsOf(words).flatMap((row) => asRead(row));

/** Scripts that are written from right to left, and letters of the others. */
const LEFTWARD = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const RIGHTWARD = /(?![\p{Script=Arabic}\p{Script=Hebrew}])\p{L}/u;

/** Returns whether most words that have letters are read from right to left. */
export function areLeftward(words: readonly RecognizedWord[]): boolean {
  const count = (letter: RegExp) => words.filter(({ text }) => letter.test(text)).length;
  return count(LEFTWARD) > count(RIGHTWARD);
}

/** Returns the words of a row, which are sorted from left to right, in reading order. */
export function asRead(row: readonly RecognizedWord[], isLeftward = areLeftward(row)): RecognizedWord[] {
  // Numbers and punctuation marks follow the direction of the row.
  const goesLeft = ({ text }: RecognizedWord) => (isLeftward ? !RIGHTWARD.test(text) : LEFTWARD.test(text));
  const runs: RecognizedWord[][] = [];
  for (const word of row) {
    const run = runs.at(-1);
    if (run?.[0] && goesLeft(run[0]) === goesLeft(word)) run.push(word);
    else runs.push([word]);
  }
  const ordered = isLeftward ? runs.toReversed() : runs;
  return ordered.flatMap((run) => (run.some(goesLeft) ? run.toReversed() : run));
}
