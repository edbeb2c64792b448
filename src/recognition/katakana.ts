// Corrects Chinese characters that look like Japanese syllables, by the characters beside them.

const LOOK_ALIKE: Readonly<Record<string, string>> = { 力: "カ", 夕: "タ", 口: "ロ", 工: "エ", 卜: "ト" };
const ALIKE = Object.keys(LOOK_ALIKE).join("");
/** A word with at least one certain syllable and no Chinese before or after it: 力夕力ナ, but not 入力ミス. */
const WORD = new RegExp(
  String.raw`(?<!\p{Script=Han})[${ALIKE}]*[\p{Script=Katakana}ー][${ALIKE}\p{Script=Katakana}ー]*(?!\p{Script=Han})`,
  "gu",
);

/** Replaces look-alike characters by syllables where syllables are meant. */
export const withKatakana = (text: string): string =>
  text.replace(WORD, (word) => [...word].map((letter) => LOOK_ALIKE[letter] ?? letter).join(""));
