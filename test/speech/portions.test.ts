// Splitting texts of any language into portions.

import { expect, test } from "bun:test";
import { portions } from "../../src/speech/portions.ts";

test("the first portion is short, and the others keep related text together", () => {
  const text = "Das ist ein Satz. Das ist noch einer, der länger ist. ".repeat(40);
  const all = portions(text);
  expect(all[0]).toBe("Das ist ein Satz. Das ist noch einer, der länger ist.");
  expect(all.slice(1, -1).every(({ length }) => length > 500 && length <= 600)).toBe(true);
  expect(all.join(" ")).toBe(text.trim());
});

test("languages without spaces have sentences, too", () => {
  const [first = "", ...rest] = portions("今日はいい天気ですね。散歩に行きましょう。".repeat(40));
  expect(first).toEndWith("。");
  expect(first.length).toBeLessThanOrEqual(60);
  expect(rest.every((one) => one.endsWith("。") && one.length <= 600)).toBe(true);
});

test("text without a sentence end is cut, but never inside a character", () => {
  const text = `a${"😀".repeat(20_000)}`;
  const all = portions(text);
  expect(all.join("")).toBe(text);
  expect(all.every((one) => one.length <= 600 && one.isWellFormed())).toBe(true);
  expect(portions(" \n\t ")).toEqual([]);
  expect(portions("\ud800")).toEqual(["\ufffd"]);
});
