import { expect, test } from "bun:test";
import type { Bitmap } from "../../src/recognition/bitmap.ts";
import { inkOf } from "../../src/recognition/ink.ts";
import { lettersOf } from "../../src/recognition/letters.ts";
import { prepare } from "../../src/recognition/prepare.ts";
import { chain, project, rotation, scaling, translation } from "../../src/recognition/projection.ts";
import { warp } from "../../src/recognition/resample.ts";
import { uprightOf } from "../../src/recognition/upright.ts";
import { Drawing } from "./drawing.ts";

const lying = (page: Bitmap) => uprightOf(lettersOf(inkOf(page, 128)));

/** Returns a page turned clockwise about its middle, on a square large enough for any angle. */
function turned(degrees: number) {
  const page = new Drawing(500, 500).page();
  const back = chain(translation(-350, -350), rotation(-degrees), translation(250, 250));
  return warp(page, back, 700, 700, 255);
}

for (const degrees of [0, 0.7, -3, 8, -13]) {
  test(`a page turned by ${degrees}° is recognized as such`, () => {
    const found = lying(turned(degrees));
    expect(found.turns).toBe(0);
    expect(found.degrees).toBeCloseTo(degrees, 0.4);
  });
}

for (const turns of [1, 2, 3]) {
  test(`a page on its side or upside down, ${turns} right angles, is recognized as such`, () => {
    const found = lying(turned(90 * turns + 2));
    expect(found.turns as number).toBe(turns);
    expect(found.degrees).toBeCloseTo(2, 0.4);
  });
}

test("an image without lines stays unchanged", () => {
  const spots = new Drawing(300, 300);
  for (let at = 0; at < 300; at++) spots.box((at * 97) % 290, (at * 61 + at * at * 7) % 290, 4, 4);
  expect(lying(spots)).toEqual({ turns: 0, degrees: 0 });
  expect(lying(new Drawing(50, 50))).toEqual({ turns: 0, degrees: 0 });
  expect(lying(new Drawing(1, 1, 0))).toEqual({ turns: 0, degrees: 0 });
});

test("a turned page with small letters is made upright and larger, and its points are mapped back", () => {
  const page = turned(6);
  const { bitmap, toOriginal, letterHeight } = prepare(page);
  expect(letterHeight).toBeGreaterThan(10);
  expect(lying(bitmap).degrees).toBeCloseTo(0, 0.4);
  // The page's middle, which turning does not move.
  const scale = letterHeight / 10;
  const middle = project(toOriginal, [bitmap.width / 2, bitmap.height / 2]);
  expect(middle[0]).toBeCloseTo(350, -0.3);
  expect(middle[1]).toBeCloseTo(350, -0.3);
  expect(bitmap.width).toBeGreaterThanOrEqual(Math.floor(700 * scale) - 1);
});

test("a level page with sufficiently large letters stays unchanged", () => {
  const page = new Drawing(500, 400).page(4);
  const { bitmap, toOriginal } = prepare(page);
  expect(Buffer.from(bitmap.data).equals(page.data)).toBe(true);
  expect(toOriginal).toEqual(scaling(1));
});
