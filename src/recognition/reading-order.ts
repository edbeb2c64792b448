// Words as a reader meets them: lines from the top, words from the left.

import type { Box, RecognizedWord } from "../domain/recognition.ts";

/** Of the lower of two boxes, the share that lies beside the other one when both are in one row. */
const BESIDE = 0.5;

/** Rows of boxes that stand side by side, whatever line or block they were read in; each from left to right. */
export function rowsOf<One extends { readonly box: Box }>(boxes: readonly One[]): One[][] {
  const sorted = boxes.toSorted((a, b) => middle(a.box) - middle(b.box));
  const rows: { top: number; bottom: number; boxes: One[] }[] = [];
  for (const one of sorted) {
    const row = rows.at(-1);
    const [top, bottom] = [one.box.y, one.box.y + one.box.height];
    const shared = row ? Math.min(row.bottom, bottom) - Math.max(row.top, top) : 0;
    if (row && shared >= BESIDE * Math.min(bottom - top, row.bottom - row.top)) {
      // The row is where most of it is: its mean, so that a high one does not draw in the next row.
      const count = row.boxes.push(one);
      row.top += (top - row.top) / count;
      row.bottom += (bottom - row.bottom) / count;
    } else rows.push({ top, bottom, boxes: [one] });
  }
  return rows.map((row) => row.boxes.sort((a, b) => a.box.x - b.box.x));
}

const middle = ({ y, height }: Box): number => y + height / 2;

/** Words of one column of text. */
export const inReadingOrder = (words: readonly RecognizedWord[]): RecognizedWord[] => rowsOf(words).flat();
