// Searching tables without parsing them first.

import { expect, test } from "bun:test";
import { SortedLines } from "../../src/speech/sorted-lines.ts";

const table = (...lines: string[]) =>
  new SortedLines(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));

test("every line is found by its whole key, and by nothing else", () => {
  const words = ["", "'s", "A", "a", "a-b", "ab", "abc", "b", "zoo", "é", "漢", "😀"];
  const lines = table(...words.map((word) => `${word}\t<${word}>`));
  expect(words.map((word) => lines.get(word))).toEqual(words.map((word) => `<${word}>`));
  for (const word of ["a\t", "ab\n", "abcd", "B", "y", "zzz", "È", "😁", "constructor"])
    expect(lines.get(word)).toBeUndefined();
});

test("a value can be empty or have several fields", () => {
  const lines = table("none\t", "two\tA\tx\tB\ty");
  expect([lines.get("none"), lines.get("two"), lines.has("none"), table().has("none")]).toEqual([
    "",
    "A\tx\tB\ty",
    true,
    false,
  ]);
});

test("a search ends in a table that is cut off at any byte", () => {
  const bytes = new TextEncoder().encode("a\t1\nb\t2\nc\t3\n");
  for (let length = 0; length <= bytes.length; length++) {
    const cut = new SortedLines(bytes.subarray(0, length));
    for (const word of ["", "a", "b", "c", "d"]) expect(["1", "2", "3", "", undefined]).toContain(cut.get(word));
  }
});
