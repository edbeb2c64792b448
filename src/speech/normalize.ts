// Writes out what cannot be looked up word by word: times, dates, units, abbreviations, symbols. Keeps plain numbers.

import { anyOf, escapeRegExp, SPACE, WORD } from "./characters.ts";
import { Dates } from "./dates.ts";
import { ordinal } from "./number-words.ts";
import { fractions, Quantities } from "./quantities.ts";
import { spokenForms } from "./spoken-forms.ts";
import type { NormalizeTables } from "./tables.ts";

/** Groups of digits with a space at which no line breaks: "12 000". */
const DIGIT_GROUP = /(?<=\p{Nd})[\xa0\u2009\u202f](?=\p{Nd}{3}(?!\p{Nd}))/gu;
const SPACES = new RegExp(`[${SPACE}]+`, "gu");
/** Titles only with a dot: "10 Ft Wave", "3rd Gen Ryzen", "Rep Count", "Rev B". */
const NO_TITLE = String.raw`\p{Nd} Ft|(?:\p{Nd}(?:st|nd|rd|th)|First|Second|Third|Fourth|Fifth|[Nn]ext|[Ll]ast|[Cc]urrent)[ \-]Gen|Rep|Rev|Hon|Fr`;
/** What follows a title without a dot: some need a name, unlike "Gen Z". */
const UNDOTTED = String.raw`(?<!${NO_TITLE})(?:(?<!Gen|Col)|(?= (?!Alpha|Beta|[A-Z](?:ers?|s)(?!\p{L}))\p{Lu}(?:'\p{Lu}|\p{Ll})))`;
/** Words where they end a sentence, unless they stand like an abbreviation: "the Sun." and "by Sun.", "special ed." */
const WORD_AT_END =
  /(?<!^|(?:\b(?:on|by|in|until|till|since|next|last|every)|,|\p{Nd}(?:st|nd|rd|th)) )(?:Mon|Sat|Sun|Jan|ed|fig)\.$/u;
const HYPHENS = /[\u2010-\u2012]/g;
/** Soft hyphens, and places where a line can or cannot break. */
const INVISIBLE = /[\xad\u200b\u2060]/g;
/** Markdown links and images, whose targets are not read and may contain parentheses. */
const LINK = /!?\[([^[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)/gu;
const NUMBER_SIGN = new RegExp(String.raw`(?<![${WORD}])([Nn]os?)\. ?(?=\p{Nd})`, "gu");
const HASH = new RegExp(String.raw`(?<![${WORD}&])#(?=\p{Nd})`, "gu");
const SMALL = String.raw`\p{Nd}{1,4}(?:\.\p{Nd}{1,3})?`;
const RANGE = new RegExp(String.raw`(?<![${WORD}.\-])(${SMALL}) ?[\-–] ?(${SMALL})(?![${WORD}\-]|\.[${WORD}])`, "gu");
const PLUS = new RegExp(String.raw`(?<![${WORD}+])\+(?=\p{Nd})`, "gu");
const SPACE_BEFORE_MARK = / +([,;:!?]|\.(?![\p{L}\p{N}]))/gu;
const NUMBER_SIGNS: Readonly<Record<string, string>> = {
  No: "Number ",
  Nos: "Numbers ",
  no: "number ",
  nos: "numbers ",
};
/** Symbols that are read only between two words. */
const BETWEEN = "=<>~";

/** A lone C or L is a letter: "Type C". */
const ROMAN = String.raw`((?=[IVX]|[LC][IVXLC])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))`;
/** The I is the pronoun behind these words: "a book I bought", "the class I took"; but not in "type I diabetes". */
const BEFORE_PRONOUN = String.raw`(?<!\b(?:[Tt]he|[Aa]) )Mark|\b(?:article|book|chapter|part|round|section|volume|(?:[Tt]he|[Ee]very|[Ee]ach|[Aa]ny|first|last|only) (?:class|grade|level|stage))`;
const AFTER_PRONOUN = String.raw`(?<=(?:${BEFORE_PRONOUN}) I) \p{Ll}`;
/** What follows the letter in "James V. Brooks". */
const AFTER_INITIAL = String.raw`(?<= \p{L})\. \p{Lu}`;
const DIGITS: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 };

export class Normalizer {
  private readonly dates: Dates;
  private readonly quantities: Quantities;
  private readonly title: RegExp;
  private readonly abbreviation: RegExp;
  private readonly romanCardinal: RegExp;
  private readonly romanOrdinal: RegExp;
  private readonly symbols: readonly (readonly [symbol: string, pattern: RegExp, words: string])[];

  constructor(private readonly tables: NormalizeTables) {
    this.dates = new Dates(tables.months);
    this.quantities = new Quantities(tables);
    const titles = anyOf(Object.keys(tables.titles));
    this.title = new RegExp(String.raw`(?<![${WORD}])(${titles})(?:\.|${UNDOTTED}) (?=[A-Z])`, "gu");
    // "No." is an answer unless a number follows.
    const abbreviations = anyOf(Object.keys(tables.abbreviations).filter((short) => !/^nos?\.$/.test(short)));
    this.abbreviation = new RegExp(String.raw`(?<![${WORD}.])(${abbreviations})(?![${WORD}])`, "gu");
    // A numeral must end with its word: the C of "King Charles" is not one.
    const before = (words: readonly string[], notBefore: string) =>
      new RegExp(String.raw`(?<![${WORD}])(${anyOf(words)}) ${ROMAN}(?![${WORD}]|${notBefore})`, "gu");
    this.romanCardinal = before(tables.roman_cardinal, String.raw`[.'][${WORD}]|${AFTER_PRONOUN}`);
    this.romanOrdinal = before(tables.roman_ordinal, String.raw`(?!'s(?![${WORD}]))[.'][${WORD}]|${AFTER_INITIAL}`);
    this.symbols = Object.entries(tables.symbols).map(([symbol, words]) => {
      const plain = escapeRegExp(symbol);
      const pattern = BETWEEN.includes(symbol) ? `(?<=[^${SPACE}]) ?${plain} ?(?=[^${SPACE}])` : plain;
      return [symbol, new RegExp(pattern, "gu"), words === "" ? " " : ` ${words} `];
    });
  }

  /** Returns the text with words written out, single spaces, and none at its ends. */
  normalize(text: string): string {
    const { abbreviations, titles } = this.tables;
    // Twice, for an image inside a link.
    let result = text.replace(DIGIT_GROUP, ",").replace(SPACES, " ").trim().replace(LINK, "$1").replace(LINK, "$1");
    result = result.replaceAll("’", "'").replace(HYPHENS, "-").replaceAll("―", "—").replace(INVISIBLE, "");
    result = spokenForms(result);
    result = this.dates.named(this.quantities.measures(this.dates.digits(result)));
    result = result
      .replace(this.title, (_, title: string) => `${titles[title]} `)
      .replace(this.abbreviation, (all: string, short: string, at: number, whole: string) => {
        const endsBoth = at + all.length === whole.length && short.endsWith(".");
        if (endsBoth && WORD_AT_END.test(whole)) return all;
        return `${abbreviations[short]}${endsBoth ? "." : ""}`;
      })
      .replace(NUMBER_SIGN, (_, short: string) => NUMBER_SIGNS[short] ?? short)
      .replace(HASH, "number ")
      .replace(this.romanCardinal, (_, word: string, roman: string) => `${word} ${romanValue(roman)}`)
      .replace(this.romanOrdinal, (_, name: string, roman: string) => `${name} the ${ordinal(`${romanValue(roman)}`)}`);
    result = fractions(result, this.dates).replace(RANGE, "$1 to $2").replace(PLUS, "plus ");
    for (const [symbol, pattern, words] of this.symbols) {
      if (result.includes(symbol)) result = result.replace(pattern, words);
    }
    return result.replace(SPACES, " ").replace(SPACE_BEFORE_MARK, "$1").trim();
  }
}

function romanValue(roman: string): number {
  const digits = Array.from(roman, (digit) => DIGITS[digit] ?? 0);
  return digits.reduce((sum, digit, at) => sum + ((digits[at + 1] ?? 0) > digit ? -digit : digit), 0);
}
