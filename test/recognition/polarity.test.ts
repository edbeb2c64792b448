import { expect, test } from "bun:test";
import { darkOnLight } from "../../src/recognition/polarity.ts";
import { Drawing } from "./drawing.ts";

/** A page with a sentence, and below it a button of this value with text. */
const withButton = (ground: number, text: number): Drawing =>
  new Drawing(400, 200)
    .text(20, 20, "another stone path")
    .box(60, 100, 200, 60, ground)
    .text(80, 116, "north band", 3, text);

for (const text of [255, 0]) {
  for (const ground of [80, 120, 160]) {
    test(`text of the value ${text} on a button of ${ground} becomes black on white`, () => {
      expect([...darkOnLight(withButton(ground, text)).data]).toEqual([...withButton(255, 0).data]);
    });
  }
}

test("the corners of a round button are not taken for its text", () => {
  const page = withButton(120, 0);
  for (let corner = 0; corner < 16; corner++) {
    for (const y of [100 + corner, 159 - corner]) {
      page.box(60, y, 16 - corner, 1, 255).box(244 + corner, y, 16 - corner, 1, 255);
    }
  }
  expect([...darkOnLight(page).data]).toEqual([...withButton(255, 0).data]);
});

test("a dark drawing without text stays as it is", () => {
  const page = new Drawing(400, 200)
    .text(20, 20, "another stone path")
    .box(60, 100, 200, 60, 100)
    .box(90, 110, 90, 40, 20);
  expect(darkOnLight(page)).toBe(page);
});
