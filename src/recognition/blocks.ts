// Groups lines into blocks by their positions on the page: cuts at gaps, alternating between columns and paragraphs.

import type { Box } from "../domain/recognition.ts";
import { around } from "./boxes.ts";
import { rowsOf } from "./reading-order.ts";
import { median } from "./statistics.ts";

/** Minimum gap between paragraphs and between columns, in heights of a line. */
const ROOM = { paragraphs: 1, columns: 1 };
/** Minimum width of a column in heights of a line, and minimum number of lines; narrower ones are table cells. */
const COLUMN = { width: 8, lines: 3 };

/** Returns the blocks in reading order, each as rows of boxes from left to right. */
export function blocksOf(lines: readonly Box[]): Box[][][] {
  if (lines.length === 0) return [];
  const height = median(lines.map((line) => line.height));
  return columnsAndParagraphs(lines, height).map((block) => rowsOf(block.map((box) => ({ box }))).map(boxesOf));
}

const boxesOf = (row: readonly { readonly box: Box }[]): Box[] => row.map(({ box }) => box);

function columnsAndParagraphs(lines: readonly Box[], height: number): Box[][] {
  const columns = cut(lines, (box) => [box.x, box.x + box.width], ROOM.columns * height);
  if (columns.length > 1 && columns.every((column) => isColumn(column))) {
    return columns.flatMap((column) => columnsAndParagraphs(column, height));
  }
  const paragraphs = cut(lines, (box) => [box.y, box.y + box.height], ROOM.paragraphs * height);
  return paragraphs.length > 1 ? paragraphs.flatMap((one) => columnsAndParagraphs(one, height)) : [[...lines]];
}

function isColumn(lines: readonly Box[]): boolean {
  return lines.length >= COLUMN.lines && around(lines).width >= COLUMN.width * median(lines.map((line) => line.height));
}

/** Divides boxes into parts with a gap of at least `room` between them. */
function cut(boxes: readonly Box[], span: (box: Box) => [from: number, to: number], room: number): Box[][] {
  const parts: Box[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const box of boxes.toSorted((a, b) => span(a)[0] - span(b)[0])) {
    const [from, to] = span(box);
    const part = parts.at(-1);
    if (part && from - end < room) part.push(box);
    else parts.push([box]);
    end = Math.max(end, to);
  }
  return parts;
}
