// Finds tables without rules: rows of words that keep to columns but are not text in columns.

import type { MergedCell, RecognizedTable, RecognizedWord } from "../../domain/recognition.ts";
import { around } from "../boxes.ts";
import { inReadingOrder, rowsOf } from "../reading-order.ts";
import { median, quantile, quantileOfSorted } from "../statistics.ts";
import { chunksOf, columnsOf, columnsUnder, filled, letterWidth, type Column, type Row } from "./chunks.ts";
import { isProse } from "./prose.ts";
import { makeTable, type Cell } from "./table.ts";
import { textColumns } from "./text-columns.ts";

/** In heights of a word: rows further apart do not belong together. */
const APART = 3.5;
/** Minimum number of rows of a table, with two columns and with more. */
const LEAST = { two: 3, more: 2 };

interface Found {
  readonly tables: RecognizedTable[];
  /** The words of each table. */
  readonly inside: RecognizedWord[][];
  readonly rest: RecognizedWord[];
}

/** Returns the tables that the positions of words form, and the words outside of them. */
export function unruledTables(words: readonly RecognizedWord[]): Found {
  const letter = letterWidth(words);
  const rows = rowsOf(words).map((row) => chunksOf(row, letter));
  const parts = textColumns(rows, letter)?.map(tablesIn) ?? [tablesIn(words)];
  return {
    tables: parts.flatMap(({ tables }) => tables),
    inside: parts.flatMap(({ inside }) => inside),
    rest: parts.flatMap(({ rest }) => rest),
  };
}

function tablesIn(words: readonly RecognizedWord[]): Found {
  const letter = letterWidth(words);
  const height = median(words.map(({ box }) => box.height));
  const rows = rowsOf(words).map((row) => chunksOf(row, letter));
  const tables: RecognizedTable[] = [];
  const inside: RecognizedWord[][] = [];
  for (const block of blocksOf(rows, APART * height)) {
    for (const [part, columns] of tabular(block, letter)) {
      const cells = cellsOf(part, columns);
      const own = cells.flatMap((cell) => cell.words);
      inside.push(own);
      const rowCount = (cells.at(-1)?.row ?? 0) + 1;
      tables.push(makeTable(around(own.map(({ box }) => box)), rowCount, columns.length, cells));
    }
  }
  const taken = new Set(inside.flat());
  return { tables, inside, rest: words.filter((word) => !taken.has(word)) };
}

/** Groups rows that follow each other closely. */
function blocksOf(rows: readonly Row[], apart: number): Row[][] {
  const blocks: Row[][] = [[]];
  let bottom = Infinity;
  for (const row of rows) {
    const { y, height } = around(row.map(({ box }) => box));
    if (y - bottom > apart) blocks.push([]);
    blocks.at(-1)?.push(row);
    bottom = y + height;
  }
  return blocks;
}

/** Returns the parts of a block that are tables, with their columns. */
function tabular(block: readonly Row[], letter: number): [Row[], Column[]][] {
  const head = headOf(block);
  if (block.slice(0, head).some(isMany))
    return [block.slice(0, head), block.slice(head)].flatMap((part) => tabular(part, letter));
  const first = block.findIndex(isMany);
  const end = block.findLastIndex(isMany) + 1;
  const rows = block.slice(Math.max(0, first), end);
  const columns = columnsOf(rows, letter);
  if (columns.length === 0) return [];
  // A line across all columns is text between tables.
  const isText = (row: Row) => {
    const [left, right] = columnsUnder(around(row.map(({ box }) => box)), columns);
    return row.length === 1 && left === 0 && right === columns.length - 1;
  };
  if (rows.some(isText)) return parted(block, isText).flatMap((part) => tabular(part, letter));
  const least = columns.length === 2 ? LEAST.two : LEAST.more;
  const parts = filled(columns, rows);
  const used = parts.every((column) => column.rows.length > 1);
  if (rows.length < least || !used || isProse(parts)) return [];
  // Sorted once: there may be thousands of rows behind the table.
  const gaps = gapsAbove([...rows, ...block.slice(end)]);
  const known = gaps.slice(1, rows.length).sort((a, b) => a - b);
  for (const row of block.slice(end)) {
    const gap = gaps[rows.length] ?? 0;
    known.splice(known.findLastIndex((one) => one <= gap) + 1, 0, gap);
    if (isText(row) || gap > CLOSER * quantileOfSorted(known, WIDE)) break;
    rows.push(row);
  }
  return [[rows, columns]];
}

const isMany = (row: Row): boolean => row.length > 1;

/**
 * Returns the number of the first row that may be a table's head. Rows above it with far fewer chunks, such as an
 * address, are not part of the table, unless it is a single one: names of groups of columns.
 */
function headOf(block: readonly Row[]): number {
  const most = block.reduce((count, row) => Math.max(count, row.length), 0);
  const full = block.findIndex((row) => row.length >= Math.ceil((most + 1) / 2));
  const first = block.findIndex(isMany);
  return full - first > 1 ? full : first;
}

/** Divides rows at those that belong to no table. */
function parted(rows: readonly Row[], isBetween: (row: Row) => boolean): Row[][] {
  const parts: Row[][] = [[]];
  for (const row of rows) {
    if (isBetween(row)) parts.push([]);
    else parts.at(-1)?.push(row);
  }
  return parts;
}

/** Returns the cells of rows; a row that continues the one above is part of that row's cells. */
function cellsOf(rows: readonly Row[], columns: readonly Column[]): Cell[] {
  const starts = startsOf(rows, columns);
  const cells = new Map<string, { cell: MergedCell; words: RecognizedWord[] }>();
  let row = -1;
  for (const [at, chunks] of rows.entries()) {
    if (starts[at]) row++;
    for (const { box, words } of chunks) {
      const [first, last] = columnsUnder(box, columns);
      const key = `${row} ${first}`;
      const found = cells.get(key);
      if (found) found.words.push(...words);
      else {
        const cell = { row, column: first, rowSpan: 1, columnSpan: last + 1 - first };
        cells.set(key, { cell, words: [...words] });
      }
    }
  }
  // A long label may reach over columns in which the same row has cells.
  const spanOf = ({ row, column, columnSpan }: MergedCell): number => {
    let span = 1;
    while (span < columnSpan && !cells.has(`${row} ${column + span}`)) span++;
    return span;
  };
  return [...cells.values()].map(({ cell, words }) => ({
    ...cell,
    columnSpan: spanOf(cell),
    words: inReadingOrder(words),
  }));
}

/** A row with missing cells continues the one above when their gap is at most this share of a wide gap. */
const CLOSER = 0.6;
/** Quantile of the gaps that counts as a wide one. */
const WIDE = 0.8;

/** Returns which rows do not continue the one above. */
function startsOf(rows: readonly Row[], columns: readonly Column[]): boolean[] {
  const gaps = gapsAbove(rows);
  const wide = quantile(gaps.slice(1), WIDE);
  return rows.map((row, at) => row.length >= columns.length || (gaps[at] ?? 0) > CLOSER * wide);
}

/** Returns the gap above each row; Infinity above the first. */
function gapsAbove(rows: readonly Row[]): number[] {
  const boxes = rows.map((row) => around(row.map(({ box }) => box)));
  return boxes.map(({ y }, at) => {
    const above = boxes[at - 1];
    return above ? Math.max(0, y - above.y - above.height) : Infinity;
  });
}
