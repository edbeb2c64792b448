// Classifies characters as letters, digits and space as Python does, from where the rules of this folder were taken.

/** White space, for a character class. */
export const SPACE = String.raw`\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;

/** Characters of words, for a character class: letters, numbers and the underscore. */
export const WORD = String.raw`\p{L}\p{N}_`;

/** Characters of words except decimal digits, for a character class. */
export const LETTER = String.raw`\p{L}\p{Nl}\p{No}`;

/** Latin letters, for a character class. */
export const LOWER = "a-zß-öø-ÿ";
export const UPPER = "A-ZÀ-ÖØ-Þ";

const LETTERS = /^\p{L}+$/u;
const ASCII_DIGITS = /^[0-9]+$/;
/** Decimal digits, and superscript, subscript and circled ones. */
const DIGITS = /^[\p{Nd}²³¹\u1369-\u1371\u19da⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒]+$/u;
const DECIMAL = /\p{Nd}/u;
/** Digits that NFKC does not convert, besides those of other scripts. */
const CIRCLED = ["⓿⓵⓶⓷⓸⓹⓺⓻⓼⓽", "⓿❶❷❸❹❺❻❼❽❾", "⓿➀➁➂➃➄➅➆➇➈", "⓿➊➋➌➍➎➏➐➑➒"];
const FOREIGN_DIGIT = /(?![0-9])[\p{Nd}⓿⓵-⓽❶-❾➀-➈➊-➒]/gu;

export const isLetters = (text: string): boolean => LETTERS.test(text);
export const isDigits = (text: string): boolean => DIGITS.test(text);
export const isAsciiDigits = (text: string): boolean => ASCII_DIGITS.test(text);

export const isLower = (text: string): boolean => /\p{Lowercase}/u.test(text) && !/[\p{Uppercase}\p{Lt}]/u.test(text);
export const isUpper = (text: string): boolean => /\p{Uppercase}/u.test(text) && !/[\p{Lowercase}\p{Lt}]/u.test(text);

/** Makes the first letter upper case and the others lower case. */
export function capitalize(text: string): string {
  const [first = ""] = text;
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** Converts digits of any script to 0 to 9; keeps other characters. */
export const asciiDigits = (text: string): string => text.replace(FOREIGN_DIGIT, (digit) => `${valueOf(digit)}`);

function valueOf(digit: string): number {
  const row = CIRCLED.find((digits) => digits.includes(digit));
  if (row !== undefined) return row.indexOf(digit);
  // The digits of a script are contiguous, in tens.
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (DECIMAL.test(String.fromCodePoint(code - before - 1))) before += 1;
  return before % 10;
}

/** Escapes the characters of `text` that have a meaning in regular expressions. */
export const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** Returns an alternation of the words, the longest first. */
export function anyOf(words: readonly string[]): string {
  return words
    .toSorted((a, b) => b.length - a.length)
    .map(escapeRegExp)
    .join("|");
}
