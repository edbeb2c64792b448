// Katakana that look like Chinese characters.

import { expect, test } from "bun:test";
import { withKatakana } from "../../src/recognition/katakana.ts";

test.each([
  ["ください。力夕力ナとひらがな", "ください。カタカナとひらがな"],
  ["メ口ン", "メロン"],
  ["力タ口グ", "カタログ"],
])("%s is corrected to %s", (read, meant) => {
  expect(withKatakana(read)).toBe(meant);
});

test.each(["入力ミス", "アルミ工場", "人口データ", "出口", "カメラの力", "工口"])("%s stays", (text) => {
  expect(withKatakana(text)).toBe(text);
});
