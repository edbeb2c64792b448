// Small pages drawn by tests: strokes, boxes and letters of 5 × 7 squares.

import { dice } from "../support/dice.ts";
import type { RecognizedWord } from "../../src/domain/recognition.ts";
import type { Bitmap } from "../../src/recognition/bitmap.ts";

/** Rows of a letter, from the top: five bits each. The baseline is below the seventh row. */
const LETTERS: Readonly<Record<string, readonly number[]>> = {
  a: [0, 0, 14, 1, 15, 17, 15, 0, 0],
  b: [16, 16, 22, 25, 17, 17, 30, 0, 0],
  d: [1, 1, 13, 19, 17, 17, 15, 0, 0],
  e: [0, 0, 14, 17, 31, 16, 14, 0, 0],
  h: [16, 16, 22, 25, 17, 17, 17, 0, 0],
  n: [0, 0, 22, 25, 17, 17, 17, 0, 0],
  o: [0, 0, 14, 17, 17, 17, 14, 0, 0],
  r: [0, 0, 22, 25, 16, 16, 16, 0, 0],
  s: [0, 0, 15, 16, 14, 1, 30, 0, 0],
  t: [8, 8, 28, 8, 8, 9, 6, 0, 0],
  p: [0, 0, 30, 17, 17, 30, 16, 16, 16],
};

export class Drawing implements Bitmap {
  readonly data: Uint8Array;

  constructor(
    readonly width: number,
    readonly height: number,
    readonly paper = 255,
  ) {
    this.data = new Uint8Array(width * height).fill(paper);
  }

  box(x: number, y: number, width: number, height: number, value = 0): this {
    for (let row = Math.max(0, y); row < Math.min(this.height, y + height); row++) {
      this.data.fill(value, row * this.width + Math.max(0, x), row * this.width + Math.min(this.width, x + width));
    }
    return this;
  }

  /** Draws letters of the list above, each square `size` pixels; a letter with its gap is six squares wide. */
  text(x: number, y: number, text: string, size = 2, value = 0): this {
    for (const [at, letter] of [...text].entries()) {
      for (const [row, bits] of (LETTERS[letter] ?? []).entries()) {
        for (let column = 0; column < 5; column++) {
          if ((bits >> (4 - column)) & 1) this.box(x + (at * 6 + column) * size, y + row * size, size, size, value);
        }
      }
    }
    return this;
  }

  /** Fills the page with lines of words, inside a margin of 20 pixels. */
  page(size = 2, value = 0): this {
    const words = [
      "north",
      "bands",
      "shed",
      "a",
      "tenth",
      "stone",
      "on",
      "the",
      "beach",
      "path",
      "no",
      "other",
      "rent",
    ];
    let at = 0;
    for (let y = 20; y + 9 * size < this.height - 20; y += 13 * size) {
      for (let x = 20; ; at++) {
        const word = words[at % words.length] ?? "";
        if (x + word.length * 6 * size > this.width - 20) break;
        this.text(x, y, word, size, value);
        // Avoids letters of successive lines in the same columns.
        x += (word.length + 1) * 6 * size + (at % 5);
      }
    }
    return this;
  }
}

/** Returns a word as if recognized, ten pixels wide per letter and 16 high. */
export const word = (text: string, x: number, y: number, confidence = 0.9): RecognizedWord => ({
  text,
  confidence,
  box: { x, y, width: 10 * [...text].length, height: 16 },
  line: 0,
  block: 0,
});

/** Returns the words of lines of text, each line starting at its position. */
export const words = (lines: readonly (readonly [x: number, y: number, text: string])[]): RecognizedWord[] =>
  lines.flatMap(([x, y, text]) => {
    let at = x;
    return text.split(" ").map((one) => {
      const found = word(one, at, y);
      at += found.box.width + 8;
      return found;
    });
  });

/** Makes this many random pixels of the page black or white. */
export function specksIn(page: Drawing, count: number): Drawing {
  const roll = dice(5);
  for (let at = 0; at < count; at++) page.box(roll(page.width), roll(page.height), 1, 1, roll(2) * 255);
  return page;
}
