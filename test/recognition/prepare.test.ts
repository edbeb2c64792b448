import { expect, test } from "bun:test";
import { prepare } from "../../src/recognition/prepare.ts";
import { project } from "../../src/recognition/projection.ts";
import { Drawing } from "./drawing.ts";

test("letters that are much larger than needed are reduced, and positions are mapped back", () => {
  const page = new Drawing(2000, 1500).page(12);
  const { bitmap, toOriginal, letterHeight } = prepare(page);
  expect([bitmap.width, bitmap.height]).toEqual([1000, 750]);
  expect(letterHeight).toBeWithin(24, 36);
  expect(project(toOriginal, [500, 375])).toEqual([1000, 750]);
});

test("small letters are enlarged, but at most threefold", () => {
  const small = prepare(new Drawing(300, 200).page(1));
  expect(small.bitmap.width).toBeWithin(600, 901);
  expect(small.letterHeight).toBeWithin(10, 14);
  const { bitmap } = prepare(new Drawing(200, 100).text(20, 20, "stone path", 1));
  expect(bitmap.width).toBeLessThanOrEqual(600);
});

test("a light-on-dark page on its side becomes dark on light and upright", () => {
  const page = new Drawing(500, 700);
  const upright = new Drawing(700, 500).page(4);
  for (let y = 0; y < 700; y++) {
    for (let x = 0; x < 500; x++) page.data[y * 500 + x] = 255 - (upright.data[(499 - x) * 700 + y] as number);
  }
  const { bitmap } = prepare(page);
  expect([bitmap.width, bitmap.height]).toEqual([700, 500]);
  const wrong = upright.data.filter((value, at) => Math.abs(value - (bitmap.data[at] as number)) > 64).length;
  expect(wrong).toBeLessThan(0.01 * upright.data.length);
});
