// Finds tables without rules whose columns were read one by one, and puts words that were read again in their place:
// read as columns of text, narrow columns with single digits are lost.

import type { Box, RecognizedWord } from "../../domain/recognition.ts";
import { around, grown, holdsMiddle } from "../boxes.ts";
import { rowsOf } from "../reading-order.ts";

type Words = readonly RecognizedWord[];

/** Returns the boxes, `margin` pixels larger, of tables with a row that was read as several lines. */
export const tornBoxes = (tables: readonly Words[], margin: number): Box[] =>
  tables.filter(isTorn).map((table) => grown(around(table.map(({ box }) => box)), margin));

const isTorn = (table: Words): boolean => rowsOf(table).some((row) => new Set(row.map(({ line }) => line)).size > 1);

/** Returns the words of a page with those in each box replaced by the ones `again` read there, if they are clearer. */
export function withReadAgain(words: Words, boxes: readonly Box[], again: readonly Words[]): RecognizedWord[] {
  return boxes.reduce<RecognizedWord[]>(
    (all, box, at) => {
      const inside = new Set(all.filter((word) => holdsMiddle(box, word.box)));
      const better = again[at] ?? [];
      return clarity(better) < clarity([...inside]) ? all : replaced(all, inside, better);
    },
    [...words],
  );
}

const clarity = (words: Words): number =>
  words.reduce((sum, { text, confidence }) => sum + confidence * text.length, 0);

function replaced(words: Words, old: ReadonlySet<RecognizedWord>, better: Words): RecognizedWord[] {
  const after = (numbers: readonly number[]) => numbers.reduce((most, number) => Math.max(most, number), -1) + 1;
  const line = after(words.map((word) => word.line));
  const block = after(words.map((word) => word.block));
  const first = words.findIndex((word) => old.has(word));
  const rest = (part: Words) => part.filter((word) => !old.has(word));
  const moved = better.map((word) => ({ ...word, line: word.line + line, block: word.block + block }));
  return [...words.slice(0, first), ...moved, ...rest(words.slice(first))];
}
