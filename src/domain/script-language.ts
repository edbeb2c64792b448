// Detects the language of a text from its script.

/** Scripts that only one language uses, or uses far more than all others. */
const LANGUAGES: readonly (readonly [script: RegExp, language: string])[] = [
  [/\p{scx=Cyrillic}/gu, "ru"],
  [/\p{scx=Greek}/gu, "el"],
  [/\p{scx=Hangul}/gu, "ko"],
  [/\p{scx=Arabic}/gu, "ar"],
  [/\p{scx=Hebrew}/gu, "he"],
  [/\p{scx=Devanagari}/gu, "hi"],
  [/\p{scx=Bengali}/gu, "bn"],
  [/\p{scx=Gurmukhi}/gu, "pa"],
  [/\p{scx=Gujarati}/gu, "gu"],
  [/\p{scx=Tamil}/gu, "ta"],
  [/\p{scx=Telugu}/gu, "te"],
  [/\p{scx=Kannada}/gu, "kn"],
  [/\p{scx=Malayalam}/gu, "ml"],
  [/\p{scx=Sinhala}/gu, "si"],
  [/\p{scx=Thai}/gu, "th"],
  [/\p{scx=Lao}/gu, "lo"],
  [/\p{scx=Khmer}/gu, "km"],
  [/\p{scx=Myanmar}/gu, "my"],
  [/\p{scx=Georgian}/gu, "ka"],
  [/\p{scx=Armenian}/gu, "hy"],
  [/\p{scx=Ethiopic}/gu, "am"],
];
const KANA = /[\p{scx=Hiragana}\p{scx=Katakana}]/u;
const CHINESE_OR_JAPANESE = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/gu;

/** Returns the code of the language in whose script most letters are; undefined for mixtures and the shared Latin. */
export function languageOfScript(text: string): string | undefined {
  const letters = text.replaceAll(/\P{L}/gu, "");
  const isMost = (script: RegExp) => 2 * (letters.match(script)?.join("").length ?? 0) > letters.length;
  if (isMost(CHINESE_OR_JAPANESE)) return KANA.test(letters) ? "ja" : "zh";
  return LANGUAGES.find(([script]) => isMost(script))?.[1];
}
