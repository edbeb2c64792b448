// Pronounces numbers: amounts, years, ordinals, single digits, money.

import { isAsciiDigits } from "./characters.ts";
import { withEd, withIng, withS } from "./endings.ts";
import type { Lexicon } from "./lexicon.ts";
import { cardinal, decimal, ordinal, spell, year } from "./number-words.ts";

/** Names of the currencies, and of their hundredths. */
const CURRENCIES: ReadonlyMap<string, readonly [string, string]> = new Map([
  ["$", ["dollar", "cent"]],
  ["£", ["pound", "pence"]],
  ["€", ["euro", "cent"]],
]);
const ORDINAL = /^(?:st|nd|rd|th)$/;
/** Zeros are written before a number only where its digits count: "agent 007". */
const CODE = /^0[0-9]+$/;
const SUFFIX = /(?:ing|'d|ed|'s|st|nd|rd|th|s)$/;

export const isCurrency = (sign: string): boolean => CURRENCIES.has(sign);

/** Returns whether a word is a number, maybe with an ending: "1,234.5", "3rd", "1990s". `isHead`: may have a minus. */
export function isNumber(word: string, isHead: boolean): boolean {
  if (!/[0-9]/.test(word)) return false;
  return (isHead ? /^-?[0-9,.]*$/ : /^[0-9,.]*$/).test(word.replace(SUFFIX, ""));
}

export class SpokenNumbers {
  constructor(private readonly lexicon: Lexicon) {}

  /**
   * Returns the phonemes of a number that `isNumber` accepts. `currency`: the sign before an amount. Inside a word (not
   * at its head), digits are read as in names: "B52", "room 404b".
   */
  phonemes(text: string, currency: string | undefined, isHead: boolean): string | undefined {
    const suffix = /[a-z']+$/.exec(text)?.[0] ?? "";
    const signed = text.slice(0, text.length - suffix.length);
    const number = signed.replace(/^-/, "");
    const names = CURRENCIES.get(currency ?? "");
    const minus = signed === number ? [] : this.say("minus");
    const isYear =
      minus.length === 0 &&
      /^[1-9]/.test(number) &&
      number.length === 4 &&
      names === undefined &&
      isAsciiDigits(number);
    const sounds = [...minus, ...this.number(number, { suffix, names, isHead, isYear })];
    if (sounds.length === 0) return undefined;
    const phonemes = sounds.join(" ");
    if (suffix === "s" || suffix === "'s") return withS(phonemes);
    if (suffix === "ed" || suffix === "'d") return withEd(phonemes);
    return suffix === "ing" ? withIng(phonemes) : phonemes;
  }

  /** Adds a currency's name to the phonemes of a word that is an amount. */
  withCurrency(phonemes: string, sign: string | undefined): string {
    const [name] = CURRENCIES.get(sign ?? "") ?? [];
    const plural = name && this.lexicon.plural(name);
    return plural ? `${phonemes} ${plural}` : phonemes;
  }

  private number(
    number: string,
    how: {
      readonly suffix: string;
      readonly names: readonly [string, string] | undefined;
      readonly isHead: boolean;
      readonly isYear: boolean;
    },
  ): string[] {
    const plain = number.replaceAll(",", "");
    const isOrdinal = ORDINAL.test(how.suffix);
    if (isOrdinal && isAsciiDigits(number)) return this.say(ordinal(number));
    if (how.isYear) return this.say(year(number));
    if (how.names === undefined && CODE.test(number)) return this.say(spell(number));
    if (!how.isHead && !number.includes(".")) return this.insideWord(plain);
    const parts = plain.split(".");
    if (parts.length > 2 || !how.isHead) {
      const point = parts.length === 2 && parts[1] !== "" ? this.say("point") : [];
      return parts.flatMap((part, at) => [...(at > 0 ? point : []), ...this.versionPart(part)]);
    }
    if (how.names !== undefined && (parts[1] ?? "").length < 3) return this.money(parts, how.names);
    if (parts.length === 1) return this.say(isOrdinal ? ordinal(plain) : cardinal(plain));
    const unit = how.names && this.lexicon.plural(how.names[0]);
    return [...this.say(parts[0] === "" ? `point ${spell(parts[1] ?? "")}` : decimal(plain)), ...(unit ? [unit] : [])];
  }

  /** Reads "747" as seven forty-seven, "101" as one oh one, "2600" digit by digit. */
  private insideWord(digits: string): string[] {
    if (digits.startsWith("0") || digits.length > 3) return this.say(spell(digits));
    if (digits.length < 3 || digits.endsWith("00")) return this.say(cardinal(digits));
    const first = this.say(cardinal(digits.slice(0, 1)));
    if (digits[1] !== "0") return [...first, ...this.say(cardinal(digits.slice(1)))];
    const oh = this.lexicon.lookup("O", undefined, -2) ?? "";
    return [...first, oh, ...this.say(cardinal(digits.slice(2)))];
  }

  /** Reads a part of "1.10.3" or "192.168.0.1". */
  private versionPart(digits: string): string[] {
    if (digits === "") return [];
    const isSpelt = digits.startsWith("0") || (digits.length !== 2 && /[^0]/.test(digits.slice(1)));
    return this.say(isSpelt ? spell(digits) : cardinal(digits));
  }

  private money(parts: readonly string[], names: readonly [string, string]): string[] {
    const amounts = parts.map((part, at) => {
      const digits = at === 1 ? part.padEnd(2, "0") : part;
      return { digits: digits.replace(/^0+/, "") || "0", name: names[at] ?? "" };
    });
    const [whole, hundredths] = amounts;
    const isWhole = hundredths === undefined || hundredths.digits === "0";
    const spoken = isWhole ? amounts.slice(0, 1) : whole?.digits === "0" ? [hundredths] : amounts;
    return spoken.flatMap(({ digits, name }, at) => {
      const isPlural = digits !== "1" && name !== "pence";
      const unit = isPlural ? this.lexicon.plural(name) : this.lexicon.lookup(name);
      const and = at > 0 ? this.lexicon.lookup("and") : undefined;
      return [...(and ? [and] : []), ...this.say(cardinal(digits)), ...(unit ? [unit] : [])];
    });
  }

  /** Returns the phonemes of number words, without the "and" between them. */
  private say(words: string): string[] {
    return words.split(/[^a-z]+/).flatMap((word) => {
      if (word === "and") return [];
      return this.lexicon.lookup(word, undefined, word === "point" ? -2 : undefined) ?? [];
    });
  }
}
