// Sorts words as a reader meets them: lines from the top, words from the left.

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
export const inReadingOrder = (words: readonly RecognizedWord[]): RecognizedWord[] => rowsOf(words).flat();
