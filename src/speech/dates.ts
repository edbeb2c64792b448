// Writes out times and dates: "7:30 pm", "3/14/2024", "2024-03-14", "March 14th", "14 March".

import { anyOf, asciiDigits, capitalize, WORD } from "./characters.ts";
import { cardinal, decimal, ordinal } from "./number-words.ts";

const TIME = new RegExp(
  String.raw`(?<![${WORD}:])(\p{Nd}{1,2}):(\p{Nd}{2})(?::(\p{Nd}{2}(?:\.\p{Nd}+)?))?(?: ?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?(?!\p{Nd})`,
  "gu",
);
const ISO = new RegExp(String.raw`(?<![${WORD}])(\p{Nd}{4})-(\p{Nd}{2})-(\p{Nd}{2})(?![${WORD}])`, "gu");
const SLASHES = new RegExp(
  String.raw`(?<![${WORD}])(\p{Nd}{1,2})/(\p{Nd}{1,2})/(\p{Nd}{4}|\p{Nd}{2})(?![${WORD}])`,
  "gu",
);

export class Dates {
  private readonly months: ReadonlyMap<string, string>;
  private readonly monthDay: RegExp;
  private readonly dayMonth: RegExp;
  /** The hyphen between two dates, behind the first. */
  private readonly span: RegExp;

  /** `months`: "jan" → "January" and so on, in the order of the year. */
  constructor(months: Readonly<Record<string, string>>) {
    this.months = new Map(Object.entries(months));
    const names = anyOf([...this.months.values(), ...Array.from(this.months.keys(), capitalize), "Sept"]);
    const day = String.raw`\p{Nd}{1,2}(?:st|nd|rd|th)?`;
    const date = String.raw`(?:(?:${names})\.? ${day}|${day} (?:${names})\.?)`;
    this.span = new RegExp(
      String.raw`(?<![${WORD}])(${date}(?:,? \p{Nd}{4})?) ?[\-–] ?(?=${date}(?![${WORD}\-]))`,
      "gu",
    );
    const days = String.raw`(\p{Nd}{1,2})(?:st|nd|rd|th)?(?: ?[\-–] ?(\p{Nd}{1,2})(?:st|nd|rd|th)?)?`;
    this.monthDay = new RegExp(
      String.raw`(?<![${WORD}])(${names})\.? ${days}(?![${WORD}:%]|[.,]\p{Nd}|-\p{L})(,? \p{Nd}{4}(?![${WORD}]))?`,
      "gu",
    );
    // A dot at the end is the sentence's.
    this.dayMonth = new RegExp(
      String.raw`(?<![${WORD}]|\p{Nd}[.,])(?:the )?${days} (?:of )?(${names})(?![${WORD}])(?:\.(?!["”')]*$))?`,
      "gu",
    );
  }

  /** Writes out times, and dates of digits with a year. */
  digits(text: string): string {
    return text
      .replace(TIME, timeInWords)
      .replace(ISO, (all: string, y: string, m: string, d: string) => this.date(m, d, y) ?? all)
      .replace(SLASHES, (all: string, a: string, b: string, y: string) => {
        const [month, day] = Number(asciiDigits(a)) <= 12 ? [a, b] : [b, a];
        const century = Number(asciiDigits(y)) > 30 ? "19" : "20";
        return this.date(month, day, y.length === 2 ? century + y : y) ?? all;
      });
  }

  /** Writes out days next to a month's name. */
  named(text: string): string {
    return text
      .replace(this.span, "$1 to ")
      .replace(this.monthDay, (all: string, month: string, first: string, last = "", year = "") => {
        const days = daysInWords(first, last);
        return days === undefined ? all : `${this.name(month)} ${days}${year}`;
      })
      .replace(this.dayMonth, (all: string, first: string, last: string | undefined, month: string) => {
        const days = daysInWords(first, last);
        return days === undefined ? all : `the ${days} of ${this.name(month)}`;
      });
  }

  /** Returns "March fourteenth, 2024" for digits; undefined when there is no such day. */
  date(month: string, day: string, year?: string): string | undefined {
    const name = [...this.months.values()][Number(asciiDigits(month)) - 1];
    if (name === undefined || !isDay(day)) return undefined;
    return `${name} ${ordinal(asciiDigits(day))}${year === undefined ? "" : `, ${year}`}`;
  }

  private name(month: string): string {
    return this.months.get(month.slice(0, 3).toLowerCase()) ?? month;
  }
}

function isDay(digits: string): boolean {
  const day = Number(asciiDigits(digits));
  return day >= 1 && day <= 31;
}

/** Returns "tenth", or "tenth to twelfth"; undefined when these are no days, or not in order. */
function daysInWords(first: string, last = ""): string | undefined {
  if (!isDay(first)) return undefined;
  const day = ordinal(asciiDigits(first));
  if (last === "") return day;
  const isRange = isDay(last) && Number(asciiDigits(first)) < Number(asciiDigits(last));
  return isRange ? `${day} to ${ordinal(asciiDigits(last))}` : undefined;
}

function timeInWords(all: string, ...groups: unknown[]): string {
  const [h, m, s, half, at, text] = groups as [string, string, string?, string?, number?, string?];
  const [hours, minutes, seconds] = [h, m, s ?? ""].map(asciiDigits) as [string, string, string];
  if (Number(hours) > 24 || Number(minutes) > 59 || Number(seconds) >= 60) return all;
  let words = cardinal(hours);
  if (Number(minutes) > 0) words += `${Number(minutes) < 10 ? " oh" : ""} ${cardinal(minutes)}`;
  else if (half === undefined && s === undefined) words += " o'clock";
  if (s !== undefined)
    words += ` and ${decimal(`${Number(Number(seconds).toFixed(6))}`)} second${Number(seconds) === 1 ? "" : "s"}`;
  if (half === undefined) return words;
  // A.M. and P.M. are written with dots so that they are spelled. The last dot may be the sentence's.
  const next = text?.[(at ?? 0) + all.length];
  return `${words} ${half.toUpperCase()}.M${next === "." ? "" : "."}`;
}
