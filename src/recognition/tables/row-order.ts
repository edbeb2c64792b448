// Puts the words of tables without rules in the order of their rows: recognition may take columns for columns of text.

import type { RecognizedWord } from "../../domain/recognition.ts";
import { areLeftward, asRead, rowsOf } from "../reading-order.ts";

type Words = readonly RecognizedWord[];

/**
 * Returns the words of a page such that those of each table follow its first one, each row a line and each table a
 * block. Numbers lines and blocks anew.
 */
export function inTableRows(words: Words, tables: readonly Words[]): RecognizedWord[] {
  const tableOf = new Map(tables.flatMap((table) => table.map((word) => [word, table] as const)));
  const done = new Set<Words>();
  const [lineOf, blockOf] = [numbers(), numbers()];
  return words.flatMap((word) => {
    const table = tableOf.get(word);
    if (!table) return [{ ...word, line: lineOf(word.line), block: blockOf(word.block) }];
    if (done.has(table)) return [];
    done.add(table);
    // Rows of numbers alone have the order of the others.
    const isLeftward = areLeftward(table);
    return rowsOf(table).flatMap((row) =>
      asRead(row, isLeftward).map((one) => ({ ...one, line: lineOf(row), block: blockOf(table) })),
    );
  });
}

/** Returns a function that numbers what it is given, from 0; the same again has the same number. */
function numbers(): (of: unknown) => number {
  const known = new Map<unknown, number>();
  return (of) => {
    const number = known.get(of) ?? known.size;
    known.set(of, number);
    return number;
  };
}
