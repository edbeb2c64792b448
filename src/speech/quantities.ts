// Writes out amounts with a unit or a currency: "5 km", "20 °C", "¥500", "$3.5 million", "3/4".

import { anyOf, asciiDigits, WORD } from "./characters.ts";
import type { Dates } from "./dates.ts";
import { ordinal } from "./number-words.ts";
import type { Counted, NormalizeTables } from "./tables.ts";

const NUMBER = String.raw`\p{Nd}+(?:,\p{Nd}{3})*(?:\.\p{Nd}+)?`;
/**
 * A number that does not begin inside another one. In a group after a comma, no number can begin that did not begin
 * earlier: without this rule, a long list of such groups would take quadratic time.
 */
const AMOUNT = String.raw`(?<![${WORD}.])(?<!\p{Nd},(?=\p{Nd}{3}(?!\p{Nd})))(-?${NUMBER}) ?`;
/** What follows the letter of a scale: it is none in "a $20 T-shirt". */
export const SCALE_END = String.raw`(?![${WORD}]|(?<= \p{L})[\-&']\p{L})`;
/** What follows "5 ft." in "5 ft. 3 in." and "He is 5 ft. 3.", and "2 hrs." in "2 hrs. 30 minutes". */
export const SMALLER_PART =
  String.raw`\p{Nd}(?:[\p{Nd}.]*[ \-]?(?:in(?:ch(?:es)?)?|oz|ounces?|min(?:ute)?s?|sec(?:ond)?s?)(?![${WORD}])` +
  String.raw`|\p{Nd}?[.!?]?$)`;
const MAGNITUDE = String.raw`(hundred|thousand|million|billion|trillion|(?:[kKmMbBtT]|[mbtMBT]n)${SCALE_END})`;

const LARGE_MONEY = new RegExp(String.raw`([$£€])(${NUMBER}) ?${MAGNITUDE}`, "gu");
const CENTS = new RegExp(String.raw`${AMOUNT}¢`, "gu");
const MONEY = new RegExp(String.raw`(?<![${WORD}])([¥₹₩]|Rs\.?) ?(${NUMBER})(?: ?${MAGNITUDE})?`, "gu");
const DEGREES = new RegExp(String.raw`${AMOUNT}° ?([CF])?(?![${WORD}])`, "gu");
const FRACTION = new RegExp(
  String.raw`(?<![${WORD}./])(?:(\p{Nd}{1,3})[ \-])?(\p{Nd}{1,3})/(\p{Nd}{1,3})(?![${WORD}/]|\.[${WORD}])`,
  "gu",
);

const MAGNITUDES: Readonly<Record<string, string>> = { k: "thousand", m: "million", b: "billion", t: "trillion" };
const SCALES: Readonly<Record<string, string>> = { C: " Celsius", F: " Fahrenheit" };
/** Units that the tables lack. */
const MORE_UNITS: Readonly<Record<string, Counted>> = {
  m: ["meter", "meters"],
  g: ["gram", "grams"],
  L: ["liter", "liters"],
  l: ["liter", "liters"],
  mL: ["milliliter", "milliliters"],
  dl: ["deciliter", "deciliters"],
  dL: ["deciliter", "deciliters"],
  cl: ["centiliter", "centiliters"],
  µL: ["microliter", "microliters"],
  µl: ["microliter", "microliters"],
  kmh: ["kilometer per hour", "kilometers per hour"],
  "m²": ["square meter", "square meters"],
  "km²": ["square kilometer", "square kilometers"],
  "m³": ["cubic meter", "cubic meters"],
  tsp: ["teaspoon", "teaspoons"],
  tbsp: ["tablespoon", "tablespoons"],
  Tbsp: ["tablespoon", "tablespoons"],
  "fl oz": ["fluid ounce", "fluid ounces"],
  qt: ["quart", "quarts"],
  gal: ["gallon", "gallons"],
  µs: ["microsecond", "microseconds"],
  h: ["hour", "hours"],
  wk: ["week", "weeks"],
  mo: ["month", "months"],
  yr: ["year", "years"],
  yrs: ["years", "years"],
  kcal: ["kilocalorie", "kilocalories"],
  V: ["volt", "volts"],
  Ω: ["ohm", "ohms"],
  kΩ: ["kilohm", "kilohms"],
  MΩ: ["megohm", "megohms"],
};
/** Before a fraction without a whole number: its unit is singular. */
const BELOW_ONE = /(?:^|[^\p{Nd} -]|(?<!\p{Nd})[ -])\p{Nd}{1,2}\/$/u;
/** Before a date: "on 3/4". */
const DATED = /(?:^| )(?:on|since|until|till|due) $/i;
const PARTS = ["", "", "half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

export class Quantities {
  private readonly unitNames: Readonly<Record<string, Counted>>;
  private readonly units: RegExp;
  private readonly slash: RegExp;
  private readonly perUnit: RegExp;

  constructor(private readonly tables: NormalizeTables) {
    this.unitNames = { ...MORE_UNITS, ...tables.units };
    const units = anyOf(Object.keys(this.unitNames));
    const slash = String.raw`(?<=\p{Nd} ?(?:${units})(?:/(?:${units}))?)/(?=(?:${units}|s|\p{Ll}{3,})(?![${WORD}]))`;
    this.slash = new RegExp(slash, "gu");
    // "5 km", "5-km run", "6 ft. tall"
    const unit = String.raw`(${units})(?![${WORD}])(?:\.(?= (?:\p{Ll}|${SMALLER_PART})))?`;
    this.units = new RegExp(String.raw`${AMOUNT}(-(?=[\p{L} ]{1,6}\.? \p{L})|)${unit}`, "gu");
    this.perUnit = new RegExp(String.raw`(?<![${WORD}])per (${units}|s)(?![${WORD}])`, "gu");
  }

  /** Writes out money, degrees and units. Plain amounts in dollars, pounds and euros are left as they are. */
  measures(text: string): string {
    const { currency } = this.tables;
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
      .replace(this.slash, " per ")
      .replace(this.units, (_, amount: string, hyphen: string, unit: string, at: number, whole: string) => {
        const [one, many] = this.unitNames[unit] ?? ["", ""];
        const isOne = hyphen !== "" || BELOW_ONE.test(whole.slice(Math.max(0, at - 5), at));
        return inWords(amount, undefined, [one, isOne ? one : many]);
      })
      .replace(this.perUnit, (_, unit: string) => `per ${this.unitNames[unit]?.[0] ?? "second"}`);
  }
}

/** Writes out "3/4", "1 1/2", scores such as "10/10", and dates such as "9/11", which can be no fraction. */
export function fractions(text: string, dates: Dates): string {
  return text.replace(
    FRACTION,
    (_, whole: string | undefined, above: string, below: string, at: number, all: string) => {
      const date = dates.date(above, below);
      const isDated = [above, below].some((part) => /^0./.test(part)) || DATED.test(all.slice(Math.max(0, at - 6), at));
      if (date !== undefined && whole === undefined && isDated) return date;
      const part = partOf(above, below);
      if (part !== undefined) return whole === undefined ? part : `${whole} and ${part.replace(/^(?:1|one) /, "a ")}`;
      const isScore = above === below && above !== "1";
      return `${whole === undefined ? "" : `${whole} `}${(isScore ? undefined : date) ?? proportion(above, below)}`;
    },
  );
}

/** Returns "3 quarters", "5 sixteenths"; undefined for what is hardly a fraction. */
function partOf(above: string, below: string): string | undefined {
  const [a, b] = [Number(asciiDigits(above)), Number(asciiDigits(below))];
  if (a <= 0 || a >= b) return undefined;
  if (b === 2) return "one half";
  // Lengths in inches.
  const name = [16, 32, 64].includes(b) && a % 2 === 1 ? ordinal(`${b}`) : PARTS[b];
  return name && `${a} ${name}${a === 1 ? "" : "s"}`;
}

function proportion(above: string, below: string): string {
  const [a, b] = [Number(asciiDigits(above)), Number(asciiDigits(below))];
  return `${a} ${0 < a && a <= b ? "out of" : "slash"} ${b}`;
}

/** Writes out "k", "M" or "bn"; keeps other words. */
export function magnitude(scale: string): string {
  return MAGNITUDES[scale.charAt(0).toLowerCase() + scale.slice(1).replace(/^n$/, "")] ?? scale;
}

function inWords(amount: string, scale: string | undefined, names: Counted = ["", ""]): string {
  const [one, many] = names;
  if (scale) return `${amount} ${magnitude(scale)} ${many}`;
  return `${amount} ${["1", "-1"].includes(amount.replaceAll(",", "")) ? one : many}`;
}
