import { expect, test } from "bun:test";
import type { Box, RecognizedWord } from "../../src/domain/recognition.ts";
import type { Bitmap } from "../../src/recognition/bitmap.ts";
import { components, regions } from "../../src/recognition/components.ts";
import { inkOf } from "../../src/recognition/ink.ts";
import { contentOf, readablePage } from "../../src/recognition/page.ts";
import { chain, rotation, translation } from "../../src/recognition/projection.ts";
import { warp } from "../../src/recognition/resample.ts";
import { Drawing } from "./drawing.ts";

/** Returns every letter as a word, like a reader without a dictionary. */
const read = (page: Bitmap): RecognizedWord[] =>
  components(regions(inkOf(page, 128)), 6).map(({ x, y, width, height }, at) => ({
    text: `w${at}`,
    confidence: 1,
    box: { x, y, width, height },
    line: 0,
    block: 0,
  }));

/** Returns a page with a mark, turned about its middle on a larger page. */
function marked(degrees: number): Bitmap {
  const page = new Drawing(500, 500).page().box(300, 380, 60, 70, 255).box(310, 390, 40, 50);
  return warp(page, chain(translation(-350, -350), rotation(-degrees), translation(250, 250)), 700, 700, 255);
}

const largest = (boxes: readonly { readonly box: Box }[]): Box | undefined =>
  boxes.map(({ box }) => box).sort((a, b) => b.width * b.height - a.width * a.height)[0];

for (const degrees of [0, 4, 90, 183]) {
  test(`words read on a page that was turned by ${degrees}° have their positions in the original`, () => {
    const page = marked(degrees);
    const ready = readablePage(page, { crop: false });
    const found = largest(contentOf(ready, read(ready.bitmap)).words);
    const wanted = largest(components(regions(inkOf(page, 128)), 6).map((box) => ({ box })));
    const middle = (box: Box | undefined) => [
      (box?.x ?? 0) + (box?.width ?? 0) / 2,
      (box?.y ?? 0) + (box?.height ?? 0) / 2,
    ];
    for (const at of [0, 1]) expect(Math.abs((middle(found)[at] ?? 0) - (middle(wanted)[at] ?? 0))).toBeLessThan(3);
  });
}

test("a drawn table is found, its rules are removed, and its words are in its cells", () => {
  const page = new Drawing(600, 400);
  for (const y of [100, 160, 220, 280]) page.box(60, y, 401, 2);
  for (const x of [60, 200, 340, 460]) page.box(x, 100, 2, 182);
  for (const [row, y] of [118, 178, 238].entries()) {
    for (const [column, x] of [80, 220, 360].entries())
      page.text(x, y, ["oa", "bd", "he"][(row + column) % 3] ?? "", 3);
  }
  const ready = readablePage(page, { crop: false });
  const { words, tables } = contentOf(ready, read(ready.bitmap));
  expect(words).toHaveLength(18);
  expect(tables.map(({ rows }) => rows.map((row) => row.map((text) => text.split(" ").length)))).toEqual([
    [
      [2, 2, 2],
      [2, 2, 2],
      [2, 2, 2],
    ],
  ]);
  expect(Math.abs((tables[0]?.box.x ?? 0) - 60)).toBeLessThan(4);
});

test("a single line is removed as well, and a word read where there is no ink is dropped", () => {
  const page = new Drawing(600, 300).text(60, 60, "stone path", 4).box(60, 104, 500, 2);
  const ready = readablePage(page, { crop: false });
  expect(read(ready.bitmap).filter(({ box }) => box.width > 100)).toEqual([]);
  const ghost: RecognizedWord = {
    text: "~~",
    confidence: 0.2,
    box: { x: 400, y: 60, width: 80, height: 30 },
    line: 0,
    block: 0,
  };
  const real = read(ready.bitmap);
  expect(contentOf(ready, [...real, ghost]).words).toHaveLength(real.length);
});

test("letters that are as high as a sign are not removed as lines", () => {
  const inkIn = (page: Bitmap) => page.data.filter((value) => value < 128).length / page.data.length;
  for (const [text, size, width] of [
    ["hthb", 8, 260],
    ["h", 12, 140],
  ] as const) {
    const sign = new Drawing(width, 100).text(30, 10, text, size);
    expect(inkIn(readablePage(sign, { crop: false }).bitmap)).toBeCloseTo(inkIn(sign), 2);
  }
});

test("pages of any size and content are processed", () => {
  for (const [width, height] of [
    [1, 1],
    [1, 300],
    [300, 1],
    [16, 16],
  ] as const) {
    for (const paper of [0, 255, 128]) {
      for (const crop of [true, false]) {
        const ready = readablePage(new Drawing(width, height, paper), { crop });
        expect(contentOf(ready, read(ready.bitmap)).tables).toEqual([]);
      }
    }
  }
});
