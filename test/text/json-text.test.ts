import { describe, expect, test } from "bun:test";
import { JsonText } from "../../src/text/json-text.ts";

const MODEL_TEXT = '{"a": "first\nsecond, \\"third\\"", "list": [1, 2, ], }';

const told = (pieces: readonly string[]): string => {
  const json = new JsonText();
  return pieces.map((piece) => json.push(piece)).join("");
};

describe("arguments as models write them", () => {
  test("raw line breaks in strings and commas at the end become strict JSON", () => {
    expect(JSON.parse(told([MODEL_TEXT]))).toEqual({ a: 'first\nsecond, "third"', list: [1, 2] });
  });

  test("come to the same in one piece and in characters", () => {
    expect(told([...MODEL_TEXT])).toBe(told([MODEL_TEXT]));
  });

  test("strict JSON stays what it is, its white space too", () => {
    const strict = JSON.stringify({ a: ["\\", '"', "é😀", { b: null }], c: 1.5 }, null, 2);
    expect(told([...strict])).toBe(strict);
  });

  test("nothing ends in a comma while more may come", () => {
    expect(told(['{"a": 1, '])).toBe('{"a": 1');
  });
});
