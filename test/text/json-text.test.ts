import { describe, expect, test } from "bun:test";
import { JsonText } from "../../src/text/json-text.ts";

const MODEL_TEXT = '{"a": "first\nsecond, \\"third\\"", "list": [1, 2, ], }';

const told = (pieces: readonly string[]): string => {
  const json = new JsonText();
  return pieces.map((piece) => json.push(piece)).join("");
};

describe("arguments written by models", () => {
  test("with raw line breaks in strings and trailing commas become strict JSON", () => {
    expect(JSON.parse(told([MODEL_TEXT]))).toEqual({ a: 'first\nsecond, "third"', list: [1, 2] });
  });

  test("give the same result in one piece and in characters", () => {
    expect(told([...MODEL_TEXT])).toBe(told([MODEL_TEXT]));
  });

  test("that are strict JSON stay unchanged, including white space", () => {
    const strict = JSON.stringify({ a: ["\\", '"', "é😀", { b: null }], c: 1.5 }, null, 2);
    expect(told([...strict])).toBe(strict);
  });

  test("never end in a comma while more may follow", () => {
    expect(told(['{"a": 1, '])).toBe('{"a": 1');
  });
});
