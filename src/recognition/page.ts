// Prepares a page for recognition, and assembles its content from the recognised words.

import type { Box, RecognizedTable, RecognizedWord } from "../domain/recognition.ts";
import type { Bitmap } from "./bitmap.ts";
import { clipped } from "./boxes.ts";
import { histogram, split } from "./ink.ts";
import { prepare } from "./prepare.ts";
import { chain, IDENTITY, projectBox, rotation, translation, type Projection } from "./projection.ts";
import { crop, warp } from "./resample.ts";
import { cutOutSheet } from "./sheet.ts";
import { median } from "./statistics.ts";
import { gridsOf, type Grid } from "./tables/grid.ts";
import { inTableRows } from "./tables/row-order.ts";
import { eraseRules, findRules } from "./tables/rules.ts";
import { ruledTables, type CellWords } from "./tables/ruled.ts";
import { tornBoxes } from "./tables/torn.ts";
import { unruledTables } from "./tables/unruled.ts";

/** A page that is ready for recognition. */
export interface ReadablePage {
  /** Dark text on light paper, upright, without rules. */
  readonly bitmap: Bitmap;
  /** Size of the original page in pixels. */
  readonly original: Omit<Bitmap, "data">;
  readonly toOriginal: Projection;
  readonly letterHeight: number;
  /** The lightest value that counts as ink. */
  readonly dark: number;
  readonly grids: readonly Grid[];
  /** Whether the page is a sheet that was cut out of a photograph. */
  readonly cropped: boolean;
}

/** The content of a page; boxes are in pixels of the original page. */
export interface PageContent {
  /** In the order of recognition, including words of tables; those of a table without rules in the order of its rows. */
  readonly words: readonly RecognizedWord[];
  readonly tables: readonly RecognizedTable[];
}

/**
 * Minimum lengths of rules, in letter heights and in pixels: shorter rules are parts of letters. `alone`: for a rule
 * that is not part of a grid.
 */
const SHORTEST = { level: 2.5, plumb: 1.6, alone: 8, pixels: 16 };

/** Height of most letters, as a share of a word's box. */
const LETTER = 0.6;

interface ReadableOptions {
  /** Whether to cut out a sheet that was photographed on a ground. */
  readonly crop: boolean;
  /** Whether to leave small letters as they are. */
  readonly fast?: boolean;
}

/** Prepares a page for recognition. */
export function readablePage(original: Bitmap, options: ReadableOptions): ReadablePage {
  const sheet = options.crop ? cutOutSheet(original) : undefined;
  const { bitmap, toOriginal, letterHeight } = prepare(sheet?.bitmap ?? original, options);
  const { rules, grids, pixels, dark } = drawnOn(bitmap, letterHeight);
  const drawn = new Set(grids.flatMap((grid) => grid.rules));
  // Where no letters are found, rules may be their strokes.
  const erased =
    letterHeight === 0 ? [] : rules.filter((rule) => drawn.has(rule) || rule.to - rule.from >= pixels(SHORTEST.alone));
  return {
    bitmap: erased.length === 0 ? bitmap : eraseRules(bitmap, erased),
    original: { width: original.width, height: original.height },
    toOriginal: sheet ? chain(toOriginal, sheet.toOriginal) : toOriginal,
    letterHeight,
    dark,
    grids,
    cropped: sheet !== undefined,
  };
}

/**
 * Prepares a page whose words, in its pixels, are already known. `turns`: how many right angles they are turned,
 * clockwise. Returns the words in pixels of the upright page.
 */
export function pageWithText(original: Bitmap, read: readonly RecognizedWord[], turns = 0) {
  const { bitmap, toOriginal, fromOriginal } = turnedBack(original, turns);
  const words = turns === 0 ? read : read.map((word) => ({ ...word, box: projectBox(fromOriginal, word.box, bitmap) }));
  const letterHeight = LETTER * median(words.map(({ box }) => box.height));
  const { grids } = drawnOn(bitmap, letterHeight);
  // These words are known to exist, whatever their colour.
  const page: ReadablePage = { bitmap, original, toOriginal, letterHeight, dark: 255, grids, cropped: false };
  return { page, words };
}

/** Turns a page counterclockwise by right angles. */
function turnedBack(original: Bitmap, turns: number) {
  if (turns === 0) return { bitmap: original, toOriginal: IDENTITY, fromOriginal: IDENTITY };
  const { width, height } = original;
  const [across, down] = turns % 2 === 0 ? [width, height] : [height, width];
  // Turned about the middle of both.
  const about = (degrees: number, from: readonly [number, number], to: readonly [number, number]) =>
    chain(translation(-from[0] / 2, -from[1] / 2), rotation(degrees), translation(to[0] / 2, to[1] / 2));
  const toOriginal = about(90 * turns, [across, down], [width, height]);
  const bitmap = warp(original, toOriginal, across, down, 255);
  return { bitmap, toOriginal, fromOriginal: about(-90 * turns, [width, height], [across, down]) };
}

/** Returns the rules on a page and the grids that they form. */
function drawnOn(bitmap: Bitmap, letterHeight: number) {
  const pixels = (letters: number) => Math.max(SHORTEST.pixels, letters * letterHeight);
  const shortest = { level: pixels(SHORTEST.level), plumb: pixels(SHORTEST.plumb) };
  const dark = split(histogram(bitmap)).threshold;
  const rules = findRules(bitmap, shortest, dark);
  return { rules, grids: gridsOf(rules, letterHeight), pixels, dark };
}

/** Returns the content of a page from the words that were recognised in its bitmap, and again in some of its cells. */
export function contentOf(page: ReadablePage, read: readonly RecognizedWord[], separate?: CellWords): PageContent {
  const { words, ruled, unruled } = tablesOn(page, read, separate);
  const inPlace = <One extends { readonly box: Box }>(one: One): One => ({
    ...one,
    box: projectBox(page.toOriginal, one.box, page.original),
  });
  const tables = [...ruled.tables, ...unruled.tables].sort((a, b) => a.box.y - b.box.y || a.box.x - b.box.x);
  return { words: inTableRows(words, unruled.inside).map(inPlace), tables: tables.map(inPlace) };
}

/** Distance of what is read again from its words, as a share of a letter's height. */
const MARGIN = 0.3;

/** Returns the parts of the page with tables that were read column by column. */
export function tornTables(page: ReadablePage, read: readonly RecognizedWord[]): Box[] {
  const { inside } = tablesOn(page, read).unruled;
  return tornBoxes(inside, MARGIN * page.letterHeight).map((box) => clipped(box, page.bitmap));
}

/** Returns the words that have ink, and the tables that they form in the page's bitmap. */
function tablesOn(page: ReadablePage, read: readonly RecognizedWord[], separate?: CellWords) {
  const words = read.filter((word) => hasInk(page, word));
  const ruled = ruledTables(page.grids, words, separate);
  return { words, ruled, unruled: unruledTables(ruled.rest) };
}

/** Minimum share of its box that a word's ink covers. */
const COVERED = 0.01;

/** Returns whether a word's box has any ink: wide gaps are sometimes recognised as words. */
function hasInk({ bitmap, dark }: ReadablePage, { box }: RecognizedWord): boolean {
  const part = crop(bitmap, clipped(box, bitmap));
  return part.data.filter((value) => value <= dark).length > COVERED * part.data.length;
}
