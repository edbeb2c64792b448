// Builds tables with drawn cells: from a grid of rules, and the words between them.

import type { RecognizedTable, RecognizedWord } from "../../domain/recognition.ts";
import { holdsMiddle } from "../boxes.ts";
import { inReadingOrder } from "../reading-order.ts";
import type { Grid, GridCell } from "./grid.ts";
import { makeTable } from "./table.ts";

/** Minimum number of cells with text; a grid with fewer is a drawing or a frame. */
const FILLED = 2;

/** The words of cells that were read on their own. */
export type CellWords = ReadonlyMap<GridCell, readonly RecognizedWord[]>;

/**
 * Returns the tables that grids and words form, and the words outside of them. `separate` takes the place of the words
 * in a cell, unless it has none.
 */
export function ruledTables(
  grids: readonly Grid[],
  words: readonly RecognizedWord[],
  separate: CellWords = new Map(),
): { readonly tables: RecognizedTable[]; readonly rest: RecognizedWord[] } {
  let rest = [...words];
  const tables: RecognizedTable[] = [];
  // Smallest first, since a table may lie inside a cell of another.
  for (const grid of grids.toSorted((a, b) => a.box.width * a.box.height - b.box.width * b.box.height)) {
    const inside = new Map<GridCell, RecognizedWord[]>(grid.cells.map((cell) => [cell, []]));
    for (const word of rest) {
      const cell = grid.cells.find((one) => holdsMiddle(one.box, word.box));
      if (cell) inside.get(cell)?.push(word);
    }
    const taken = new Set([...inside.values()].flat());
    const cells = [...inside].map(([cell, found]) => ({ ...cell, words: inReadingOrder(separate.get(cell) ?? found) }));
    if (cells.filter((cell) => cell.words.length > 0).length < FILLED) continue;
    rest = rest.filter((word) => !taken.has(word));
    tables.push(makeTable(grid.box, grid.rows, grid.columns, cells));
  }
  return { tables, rest };
}
