// Chinese characters that look as Japanese syllables do: what stands beside them tells which they are.

const LOOK_ALIKE: Readonly<Record<string, string>> = { 力: "カ", 夕: "タ", 口: "ロ", 工: "エ", 卜: "ト" };
const ALIKE = Object.keys(LOOK_ALIKE).join("");
/** A word of syllables, one of which is surely one, with no Chinese before and behind: 力夕力ナ, but not 入力ミス. */
const WORD = new RegExp(
  String.raw`(?<!\p{Script=Han})[${ALIKE}]*[\p{Script=Katakana}ー][${ALIKE}\p{Script=Katakana}ー]*(?!\p{Script=Han})`,
  "gu",
);

/** The text with syllables where they are meant. */
export const withKatakana = (text: string): string =>
  text.replace(WORD, (word) => [...word].map((letter) => LOOK_ALIKE[letter] ?? letter).join(""));
