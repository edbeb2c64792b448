// A page before and after its text is read: what is read is made ready first, and what was read is put in its place.

import type { Box, RecognizedTable, RecognizedWord } from "../domain/recognition.ts";
import type { Bitmap } from "./bitmap.ts";
import { clipped } from "./boxes.ts";
import { cropDocument } from "./document.ts";
import { histogram, split } from "./ink.ts";
import { prepare } from "./prepare.ts";
import { chain, IDENTITY, projectBox, type Projection } from "./projection.ts";
import { crop } from "./resample.ts";
import { median } from "./statistics.ts";
import { gridsOf, type Grid } from "./tables/grid.ts";
import { eraseRules, findRules } from "./tables/rules.ts";
import { ruledTables } from "./tables/ruled.ts";
import { unruledTables } from "./tables/unruled.ts";

/** A page that is ready to be read. */
export interface ReadablePage {
  /** Dark text on light paper, upright, without rules. */
  readonly bitmap: Bitmap;
  /** Of the page as it came. */
  readonly original: Omit<Bitmap, "data">;
  readonly toOriginal: Projection;
  readonly letterHeight: number;
  /** The lightest value of ink. */
  readonly dark: number;
  readonly grids: readonly Grid[];
  /** Whether a sheet was cut out of a photograph. */
  readonly cropped: boolean;
}

/** What a page says; boxes are in pixels of the page as it came. */
export interface PageContent {
  /** In the order in which they were read, those of tables included. */
  readonly words: readonly RecognizedWord[];
  readonly tables: readonly RecognizedTable[];
}

/** Heights of a letter, and pixels: shorter rules are parts of letters. A rule that is in no grid is longer. */
const SHORTEST = { level: 2.5, plumb: 1.6, alone: 8, pixels: 16 };

/** Of a word's box: most letters are as high. */
const LETTER = 0.6;

interface ReadableOptions {
  /** A sheet that was photographed on a ground is cut out. */
  readonly crop: boolean;
  /** Small letters stay as they are. */
  readonly fast?: boolean;
}

/** Makes a page ready to be read. */
export function readable(original: Bitmap, options: ReadableOptions): ReadablePage {
  const sheet = options.crop ? cropDocument(original) : undefined;
  const { bitmap, toOriginal, letterHeight } = prepare(sheet?.bitmap ?? original, !options.fast);
  const { rules, grids, pixels, dark } = drawnOn(bitmap, letterHeight);
  const drawn = new Set(grids.flatMap((grid) => grid.rules));
  const erased = rules.filter((rule) => drawn.has(rule) || rule.to - rule.from >= pixels(SHORTEST.alone));
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

/** A page whose words are known from elsewhere, in its pixels. */
export function known(original: Bitmap, words: readonly RecognizedWord[]): ReadablePage {
  const letterHeight = LETTER * median(words.map(({ box }) => box.height));
  const { grids } = drawnOn(original, letterHeight);
  // Whatever colour they have, these words are there.
  return { bitmap: original, original, toOriginal: IDENTITY, letterHeight, dark: 255, grids, cropped: false };
}

/** The rules on a page, and the grids that they make. */
function drawnOn(bitmap: Bitmap, letterHeight: number) {
  const pixels = (letters: number) => Math.max(SHORTEST.pixels, letters * letterHeight);
  const shortest = { level: pixels(SHORTEST.level), plumb: pixels(SHORTEST.plumb) };
  const dark = split(histogram(bitmap)).threshold;
  const rules = findRules(bitmap, shortest, dark);
  return { rules, grids: gridsOf(rules, letterHeight), pixels, dark };
}

/** What a page says, out of the words that were read in its bitmap. */
export function contentOf(page: ReadablePage, read: readonly RecognizedWord[]): PageContent {
  const words = read.filter((word) => hasInk(page, word));
  const ruled = ruledTables(page.grids, words);
  const unruled = unruledTables(ruled.rest);
  const inPlace = <One extends { readonly box: Box }>(one: One): One => ({
    ...one,
    box: projectBox(page.toOriginal, one.box, page.original),
  });
  const tables = [...ruled.tables, ...unruled.tables].sort((a, b) => a.box.y - b.box.y || a.box.x - b.box.x);
  return { words: words.map(inPlace), tables: tables.map(inPlace) };
}

/** Share of its box that a word covers at least. */
const COVERED = 0.01;

/** Whether there is anything where a word was read: wide gaps are read as words sometimes. */
function hasInk({ bitmap, dark }: ReadablePage, { box }: RecognizedWord): boolean {
  const part = crop(bitmap, clipped(box, bitmap));
  return part.data.filter((value) => value <= dark).length > COVERED * part.data.length;
}
