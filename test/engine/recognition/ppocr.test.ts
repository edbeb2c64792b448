// PP-OCR from a page to words, with networks that respond to brightness: grey bars are read as a, black ones as b.

import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ppocr } from "../../../src/engine/recognition/child/ppocr.ts";
import { UnusableData } from "../../../src/engine/recognition/child/unusable-data.ts";
import type { RecognizedWord } from "../../../src/domain/recognition.ts";
import type { Bitmap } from "../../../src/recognition/bitmap.ts";
import { sharedFolder } from "../../support/folders.ts";
import { CHARACTERS, directorBytes, finderBytes, readerBytes } from "../../support/ppocr-bytes.ts";

const folder = sharedFolder();
const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

let onLine = () => {};
let reader: Ppocr;
const files = () => ({
  finder: file("finder.onnx", finderBytes()),
  director: file("director.onnx", directorBytes()),
  reader: file("reader.onnx", readerBytes()),
  characters: file("characters.txt", CHARACTERS),
});
beforeAll(async () => {
  reader = await Ppocr.load(files(), () => onLine());
}, 60_000);

type Bar = readonly [x: number, y: number, width: number, height: number, grey: number];

function page(width: number, height: number, ...bars: readonly Bar[]): Bitmap {
  const data = new Uint8Array(width * height).fill(255);
  for (const [x, y, across, down, grey] of bars) {
    for (let row = y; row < y + down; row++) data.fill(grey, row * width + x, row * width + x + across);
  }
  return { width, height, data };
}

const [GREY, BLACK] = [100, 0];
/** A grey bar followed by a black one of the same height, slightly lower. */
const word = (x: number, y: number): Bar[] => [
  [x, y, 60, 20, GREY],
  [x + 60, y + 2, 60, 20, BLACK],
];

const read = (bitmap: Bitmap, level: "accurate" | "fast" = "accurate") => reader.words(bitmap, 150, { level });

test("lines are found, read in order, and returned with their positions", async () => {
  const words = await read(page(600, 300, ...word(300, 200), ...word(100, 50)));
  expect(words.map(({ line, block }) => [line, block])).toEqual([
    [0, 0],
    [1, 1],
  ]);
  // At the edges of bars, columns are partly background.
  for (const { text } of words) expect(text).toMatch(/^a[ab]*b$/);
  const { box } = words[0] as RecognizedWord;
  expect(Math.abs(box.x + box.width / 2 - 160)).toBeLessThan(10);
  expect(Math.abs(box.y + box.height / 2 - 61)).toBeLessThan(3);
  expect(box.height).toBeGreaterThan(22);
});

test("a page larger than the detector's input yields the same words, with positions in its own pixels", async () => {
  const large = word(1000, 500).map(
    (bar) => bar.map((side, at) => (at < 2 || at === 4 ? side : 4 * side)) as unknown as Bar,
  );
  const [found, ...others] = await read(page(4000, 1000, ...large), "fast");
  expect(others).toEqual([]);
  expect(found?.text).toMatch(/^a[ab]*b$/);
  const { box } = found as RecognizedWord;
  expect(Math.abs(box.y + box.height / 2 - 542)).toBeLessThan(12);
});

test("a page that is upside down is read upright, and the positions are those on the page", async () => {
  const upright = page(600, 300, ...word(100, 50));
  const [expected] = await read(upright);
  const [found, ...others] = await read({ ...upright, data: upright.data.toReversed() });
  expect(others).toEqual([]);
  expect(found?.text).toBe(expected?.text ?? "");
  const { x, y, width, height } = expected?.box ?? { x: 0, y: 0, width: 0, height: 0 };
  expect(found?.box).toEqual({ x: 600 - x - width, y: 300 - y - height, width, height });
});

test("a file that is not a network is named in the error", async () => {
  const finder = file("damaged.onnx", "no net");
  const failure = await Ppocr.load({ ...files(), finder }, () => {}).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UnusableData);
  expect(String(failure)).toContain("damaged.onnx");
});

test("a blank page yields no words, and an error thrown by the progress callback ends the page", async () => {
  expect(await read(page(600, 300))).toEqual([]);
  const stop = new Error("nobody waits");
  onLine = () => {
    throw stop;
  };
  expect(await read(page(600, 300, ...word(100, 50))).catch((error: unknown) => error)).toBe(stop);
  onLine = () => {};
});
