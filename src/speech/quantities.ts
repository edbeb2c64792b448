// Writes out amounts with a unit or a currency: "5 km", "20 °C", "¥500", "$3.5 million", "3/4".

import { anyOf, asciiDigits, WORD } from "./characters.ts";
import type { Dates } from "./dates.ts";
import type { Counted, NormalizeTables } from "./tables.ts";

const NUMBER = String.raw`\p{Nd}+(?:,\p{Nd}{3})*(?:\.\p{Nd}+)?`;
/**
 * A number that does not begin inside another one. In a group after a comma, no number can begin that did not begin
 * earlier: without this rule, a long list of such groups would take quadratic time.
 */
const AMOUNT = String.raw`(?<![${WORD}.])(?<!\p{Nd},(?=\p{Nd}{3}(?!\p{Nd})))(-?${NUMBER}) ?`;
const MAGNITUDE = String.raw`(hundred|thousand|million|billion|trillion|[kKmMbB](?![${WORD}]))`;

const LARGE_MONEY = new RegExp(String.raw`([$£€])(${NUMBER}) ?${MAGNITUDE}`, "gu");
const CENTS = new RegExp(String.raw`${AMOUNT}¢`, "gu");
const MONEY = new RegExp(String.raw`(?<![${WORD}])([¥₹₩]|Rs\.?|USD|EUR|GBP) ?(${NUMBER})(?: ?${MAGNITUDE})?`, "gu");
const DEGREES = new RegExp(String.raw`${AMOUNT}° ?([CF])?(?![${WORD}])`, "gu");
const FRACTION = new RegExp(String.raw`(?<![${WORD}./])(\p{Nd}{1,2})/(\p{Nd}{1,2})(?![${WORD}./])`, "gu");

const MAGNITUDES: Readonly<Record<string, string>> = { k: "thousand", m: "million", b: "billion" };
const SCALES: Readonly<Record<string, string>> = { C: " Celsius", F: " Fahrenheit" };
const PARTS = ["", "", "half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

export class Quantities {
  readonly #tables: NormalizeTables;
  readonly #units: RegExp;

  constructor(tables: NormalizeTables) {
    this.#tables = tables;
    this.#units = new RegExp(String.raw`${AMOUNT}(${anyOf(Object.keys(tables.units))})(?![${WORD}])`, "gu");
  }

  /** Writes out money, degrees and units. Plain amounts in dollars, pounds and euros are left as they are. */
  measures(text: string): string {
    const { currency, units } = this.#tables;
    return text
      .replace(LARGE_MONEY, (_, sign: string, amount: string, magnitude: string) =>
        inWords(amount, magnitude, currency[sign]),
      )
      .replace(CENTS, (_, amount: string) => inWords(amount, undefined, currency["¢"]))
      .replace(MONEY, (_, sign: string, amount: string, magnitude?: string) =>
        inWords(amount, magnitude, currency[sign.replace(".", "")]),
      )
      .replace(DEGREES, (_, amount: string, scale?: string) => {
        return inWords(amount, undefined, ["degree", "degrees"]) + (SCALES[scale ?? ""] ?? "");
      })
      .replace(this.#units, (_, amount: string, unit: string) => inWords(amount, undefined, units[unit]));
  }
}

/** Writes out "3/4", and dates such as "9/11", which can be no fraction. */
export function fractions(text: string, dates: Dates): string {
  return text.replace(FRACTION, (_, above: string, below: string) => {
    const [a, b] = [Number(asciiDigits(above)), Number(asciiDigits(below))];
    if (0 < a && a < b && b <= 10) {
      if (b === 2) return "one half";
      return `${a} ${PARTS[b]}${a === 1 ? "" : "s"}`;
    }
    return dates.date(above, below) ?? `${a} slash ${b}`;
  });
}

function inWords(amount: string, magnitude: string | undefined, names: Counted = ["", ""]): string {
  const [one, many] = names;
  if (magnitude) return `${amount} ${MAGNITUDES[magnitude.toLowerCase()] ?? magnitude} ${many}`;
  return `${amount} ${["1", "1.0", "-1"].includes(amount.replaceAll(",", "")) ? one : many}`;
}
