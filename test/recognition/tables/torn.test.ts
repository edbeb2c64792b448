import { expect, test } from "bun:test";
import { tornBoxes, withReadAgain } from "../../../src/recognition/tables/torn.ts";
import { word } from "../drawing.ts";

const placed = (text: string, x: number, y: number, line: number, confidence = 0.9) => ({
  ...word(text, x, y, confidence),
  line,
});

test("a table with a row of several lines is torn", () => {
  const torn = [placed("a", 0, 0, 0), placed("b", 0, 26, 1), placed("c", 90, 0, 2), placed("d", 90, 26, 3)];
  const whole = [placed("a", 0, 100, 4), placed("c", 90, 100, 4)];
  expect(tornBoxes([torn, whole], 5)).toEqual([{ x: -5, y: -5, width: 110, height: 52 }]);
});

test("what was read again takes the place of less clear words in its box, as new lines", () => {
  const page = [placed("above", 0, 0, 0), placed("a1", 0, 40, 1), placed("below", 0, 80, 2)];
  const box = { x: 0, y: 30, width: 200, height: 40 };
  const better = [placed("a", 0, 40, 0), placed("12", 60, 40, 0)];
  const summary = withReadAgain(page, [box], [better]).map(({ text, line }) => [text, line]);
  expect(summary).toEqual([
    ["above", 0],
    ["a", 3],
    ["12", 3],
    ["below", 2],
  ]);
  expect(withReadAgain(page, [box], [[placed("a", 0, 40, 0, 0.5)]])).toEqual(page);
  expect(withReadAgain(page, [box], [])).toEqual(page);
});
