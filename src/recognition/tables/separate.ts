// Chooses the cells that are read again, one by one. Read with the rest of the page, cells lose separators, short texts
// and capitals, since their line has the height of the largest text beside them and wide gaps.

import type { Box } from "../../domain/recognition.ts";
import type { Bitmap } from "../bitmap.ts";
import { clipped, grown } from "../boxes.ts";
import type { ReadablePage } from "../page.ts";
import { crop } from "../resample.ts";
import type { GridCell } from "./grid.ts";

/** Maximum height in letter heights; a larger cell may contain columns of text, or a table. */
const HIGHEST = 10;
/** Maximum number per page; each takes about 20 ms. */
const MOST = 500;
/** Pixels between the middle of a rule and what is read. */
const INSET = 3;
/** Minimum number of dark pixels, in letter heights: those of a dash. */
const LEAST_INK = 0.5;

/** A cell, and the part of the page between its rules. */
interface SeparateCell {
  readonly cell: GridCell;
  readonly inner: Box;
}

type Page = Pick<ReadablePage, "bitmap" | "grids" | "letterHeight" | "dark">;

/** Returns the cells with one to a few lines of text; none if there are too many. */
export function separateCells({ bitmap, grids, letterHeight, dark }: Page): SeparateCell[] {
  const cells = grids.flatMap((grid) => grid.cells);
  const all = cells.map((cell) => ({ cell, inner: clipped(grown(cell.box, -INSET), bitmap) }));
  const found = all.filter(({ inner }) => {
    const { width, height } = inner;
    const isLow = width > 0 && height > 0 && height <= HIGHEST * letterHeight;
    // A table inside a cell has its own cells.
    return (
      isLow &&
      !grids.some((grid) => contains(inner, grid.box)) &&
      inkIn(crop(bitmap, inner), dark) >= LEAST_INK * letterHeight
    );
  });
  return found.length > MOST ? [] : found;
}

const inkIn = ({ data }: Bitmap, dark: number): number => data.reduce((sum, value) => sum + (value <= dark ? 1 : 0), 0);

const contains = (outer: Box, { x, y, width, height }: Box): boolean =>
  x >= outer.x && y >= outer.y && x + width <= outer.x + outer.width && y + height <= outer.y + outer.height;
