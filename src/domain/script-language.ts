// Detects the language of a text from its script.

import { wordTable } from "./word-table.ts";

/** Scripts that only one language uses, or uses far more than all others. */
const LANGUAGES = Object.entries(
  wordTable(`
    Cyrillic ru, Greek el, Hangul ko, Arabic ar, Hebrew he, Devanagari hi, Bengali bn, Gurmukhi pa, Gujarati gu,
    Tamil ta, Telugu te, Kannada kn, Malayalam ml, Sinhala si, Thai th, Lao lo, Khmer km, Myanmar my, Georgian ka,
    Armenian hy, Ethiopic am
  `),
).map(([script, language]) => ({ letter: new RegExp(`\\p{scx=${script}}`, "gu"), language }));
const KANA = /[\p{scx=Hiragana}\p{scx=Katakana}]/u;
const CHINESE_OR_JAPANESE = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/gu;

/** Returns the code of the language in whose script most letters are; undefined for mixtures and the shared Latin. */
export function languageOfScript(text: string): string | undefined {
  const letters = text.replaceAll(/\P{L}/gu, "");
  const isMost = (script: RegExp) => 2 * (letters.match(script)?.join("").length ?? 0) > letters.length;
  if (isMost(CHINESE_OR_JAPANESE)) return KANA.test(letters) ? "ja" : "zh";
  return LANGUAGES.find(({ letter }) => isMost(letter))?.language;
}
