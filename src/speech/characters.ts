// Which characters count as letters, digits and space: as Python has it, where the rules of this folder come from.

/** White space, for a character class. */
export const SPACE = String.raw`\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;

/** What words are made of, for a character class: letters, numbers and the underscore. */
export const WORD = String.raw`\p{L}\p{N}_`;

/** What is part of a word but no decimal digit, for a character class. */
export const LETTER = String.raw`\p{L}\p{Nl}\p{No}`;

/** Latin letters, for a character class. */
export const LOWER = "a-zß-öø-ÿ";
export const UPPER = "A-ZÀ-ÖØ-Þ";

const LETTERS = /^\p{L}+$/u;
const ASCII_DIGITS = /^[0-9]+$/;
/** Beyond decimal digits: raised, lowered and circled ones. */
const DIGITS = /^[\p{Nd}²³¹\u1369-\u1371\u19da⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒]+$/u;
const DECIMAL = /\p{Nd}/u;
/** Digits that NFKC leaves as they are, besides those of other scripts. */
const CIRCLED = ["⓿⓵⓶⓷⓸⓹⓺⓻⓼⓽", "⓿❶❷❸❹❺❻❼❽❾", "⓿➀➁➂➃➄➅➆➇➈", "⓿➊➋➌➍➎➏➐➑➒"];
const FOREIGN_DIGIT = /(?![0-9])[\p{Nd}⓿⓵-⓽❶-❾➀-➈➊-➒]/gu;

export const isLetters = (text: string): boolean => LETTERS.test(text);
export const isDigits = (text: string): boolean => DIGITS.test(text);
export const isAsciiDigits = (text: string): boolean => ASCII_DIGITS.test(text);

export const isLower = (text: string): boolean => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
export const isUpper = (text: string): boolean => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

/** The first letter large, the others small. */
export function capitalize(text: string): string {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** Digits of any script as 0 to 9; other characters stay. */
export const asciiDigits = (text: string): string => text.replace(FOREIGN_DIGIT, (digit) => `${valueOf(digit)}`);

function valueOf(digit: string): number {
  const row = CIRCLED.find((digits) => digits.includes(digit));
  if (row !== undefined) return row.indexOf(digit);
  // The digits of a script lie side by side, in tens.
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (DECIMAL.test(String.fromCodePoint(code - before - 1))) before += 1;
  return before % 10;
}

/** `text` with the characters that mean something in a regular expression made plain. */
export const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** An alternative for each of the words, the longest first. */
export function anyOf(words: readonly string[]): string {
  return words
    .toSorted((a, b) => b.length - a.length)
    .map(escapeRegExp)
    .join("|");
}
