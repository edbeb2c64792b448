// Reads the text stored in a PDF page, as words with their places.

import type { Box, RecognizedWord } from "../../../domain/recognition.ts";
import { around } from "../../../recognition/boxes.ts";
import type { Pdfium } from "./pdfium.ts";

/** Most characters that are read: more than any page has that is meant to be read. */
const MOST_CHARACTERS = 200_000;
/** A line starts a new block when its gap to the line above exceeds this many times its height. */
const GAP = 1;
/** PDFium's character for a hyphen that divides a word at the end of a line; it stands for the end of the line, too. */
const LINE_END_HYPHEN = 2;

export interface PageGeometry {
  readonly page: number;
  /** Points. */
  readonly width: number;
  readonly height: number;
}

interface Character {
  readonly text: string;
  readonly box: Box;
}

interface PageText {
  readonly words: readonly RecognizedWord[];
  /** Share of the characters to which their fonts assign no Unicode character. */
  readonly unknownShare: number;
  /** How many right angles most of the text is turned on the page as it is shown, clockwise. */
  readonly turns: number;
}

/** Reads a page's text. Boxes are in points from the upper left corner of the page as it is shown. */
export function readPageText(pdfium: Pdfium, geometry: PageGeometry): PageText {
  const { functions } = pdfium;
  const text = functions._FPDFText_LoadPage(geometry.page);
  if (text === 0) return { words: [], unknownShare: 0, turns: 0 };
  try {
    return pdfium.within(32, (scratch) => readCharacters(pdfium, geometry, text, scratch));
  } finally {
    functions._FPDFText_ClosePage(text);
  }
}

function readCharacters(pdfium: Pdfium, geometry: PageGeometry, text: number, scratch: number): PageText {
  const { functions } = pdfium;
  const count = Math.min(functions._FPDFText_CountChars(text), MOST_CHARACTERS);
  const lines = new LineBuilder();
  let [unknown, visible] = [0, 0];
  const turned = [0, 0, 0, 0];
  for (let index = 0; index < count; index++) {
    const code = functions._FPDFText_GetUnicode(text, index);
    const character = characterOf(code);
    if (character === "\n" || character === "\r") {
      lines.endLine();
      continue;
    }
    if (character.trim() === "") {
      lines.endWord();
      continue;
    }
    visible++;
    const turn = Math.round(functions._FPDFText_GetCharAngle(text, index) / (Math.PI / 2)) & 3;
    turned[turn] = (turned[turn] ?? 0) + 1;
    if (isMeaningless(code) || functions._FPDFText_HasUnicodeMapError(text, index) === 1) unknown++;
    if (functions._FPDFText_GetLooseCharBox(text, index, scratch) === 0) continue;
    const box = boxOf(pdfium, geometry, scratch);
    if (isShown(box, geometry)) lines.add({ text: character, box });
    if (code === LINE_END_HYPHEN) lines.endLine();
  }
  const turns = (turned.indexOf(Math.max(...turned)) + functions._FPDFPage_GetRotation(geometry.page)) % 4;
  return { words: inBlocks(lines.finish(), turns), unknownShare: visible === 0 ? 0 : unknown / visible, turns };
}

function characterOf(code: number): string {
  if (code === LINE_END_HYPHEN) return "-";
  return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : "\ufffd";
}

const isShown = ({ x, y, width, height }: Box, page: PageGeometry): boolean =>
  x + width > 0 && y + height > 0 && x < page.width && y < page.height;

/** Returns whether a code is a control character, for private use, or a replacement for an unknown character. */
const isMeaningless = (code: number): boolean =>
  (code < 32 && code !== LINE_END_HYPHEN) || (code >= 0xe000 && code <= 0xf8ff) || code === 0xfffd || code === 0xfffe;

/** Returns the rectangle at `scratch` (left, top, right, bottom; y upwards) in coordinates of the shown page. */
function boxOf(pdfium: Pdfium, { page, width, height }: PageGeometry, scratch: number): Box {
  const [left = 0, top = 0, right = 0, bottom = 0] = pdfium.floats(scratch, 4);
  // Device units are integers: thousandths of a point are fine enough.
  const fine = 1000;
  const size = [Math.round(width * fine), Math.round(height * fine)] as const;
  const at = scratch + 16;
  const shown = (x: number, y: number): readonly [number, number] => {
    pdfium.functions._FPDF_PageToDevice(page, 0, 0, ...size, 0, x, y, at, at + 4);
    const [deviceX = 0, deviceY = 0] = pdfium.integers(at, 2);
    return [deviceX / fine, deviceY / fine];
  };
  const [x1, y1] = shown(left, top);
  const [x2, y2] = shown(right, bottom);
  return { x: Math.min(x1, x2), y: Math.min(y1, y2), width: Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
}

class LineBuilder {
  private readonly words: RecognizedWord[] = [];
  private characters: Character[] = [];
  private line = 0;

  add(character: Character): void {
    this.characters.push(character);
  }

  endWord(): void {
    const { characters, line } = this;
    if (characters.length === 0) return;
    const box = around(characters.map((one) => one.box));
    // Fonts may say that a character is half of a surrogate pair.
    const text = characters
      .map((one) => one.text)
      .join("")
      .toWellFormed();
    this.words.push({ text, confidence: 1, box, line, block: 0 });
    this.characters = [];
  }

  endLine(): void {
    this.endWord();
    if (this.words.at(-1)?.line === this.line) this.line++;
  }

  finish(): RecognizedWord[] {
    this.endLine();
    return this.words;
  }
}

/** Numbers the blocks of words that are turned clockwise by this many right angles. */
function inBlocks(words: readonly RecognizedWord[], turns: number): RecognizedWord[] {
  let block = 0;
  let above: Box | undefined;
  return [...Map.groupBy(words, ({ line }) => line).values()].flatMap((line) => {
    const boxes = line.map(({ box }) => turnedBack(box, turns));
    const [first] = boxes;
    if (above && first && isApart(above, first)) block++;
    above = around(boxes);
    return line.map((word) => ({ ...word, block }));
  });
}

/** Turns a box counterclockwise about the origin. */
function turnedBack({ x, y, width, height }: Box, turns: number): Box {
  if (turns === 1) return { x: y, y: -x - width, width: height, height: width };
  if (turns === 2) return { x: -x - width, y: -y - height, width, height };
  return turns === 3 ? { x: -y - height, y: x, width: height, height: width } : { x, y, width, height };
}

/** Returns whether a word does not continue the block of lines above it. */
function isApart(line: Box, word: Box): boolean {
  const below = word.y - (line.y + line.height);
  return below > GAP * word.height || word.y < line.y;
}
