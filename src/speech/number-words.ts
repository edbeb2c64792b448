// Writes numbers as English words, from strings of the digits 0 to 9.

const ONES = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
  "eighteen nineteen"
).split(" ");
const TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const SCALES =
  " thousand million billion trillion quadrillion quintillion sextillion septillion octillion nonillion decillion".split(
    " ",
  );
const ORDINALS: ReadonlyMap<string, string> = new Map([
  ["one", "first"],
  ["two", "second"],
  ["three", "third"],
  ["five", "fifth"],
  ["eight", "eighth"],
  ["nine", "ninth"],
  ["twelve", "twelfth"],
]);

/** Returns "one thousand two hundred and thirty-four". Numbers too large for a name are read digit by digit. */
export function cardinal(digits: string): string {
  const number = digits.replace(/^0+(?=.)/, "");
  if (number.length > 3 * SCALES.length) return spell(number);
  if (number.length <= 3) return belowThousand(Number(number));
  const groups: string[] = [];
  for (let end = number.length, scale = 0; end > 0; end -= 3, scale += 1) {
    const group = Number(number.slice(Math.max(0, end - 3), end));
    if (group > 0) groups.push(`${belowThousand(group)} ${SCALES[scale]}`.trimEnd());
  }
  return groups.reverse().join(" ");
}

/** Returns "one hundred and first", "twenty-third". */
export function ordinal(digits: string): string {
  return cardinal(digits).replace(/[a-z]+$/, (last) => {
    const irregular = ORDINALS.get(last);
    if (irregular !== undefined) return irregular;
    return last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`;
  });
}

/** Reads a year of four digits: "nineteen oh-five", "two thousand and five", "twenty ten". */
export function year(digits: string): string {
  const [high, low] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  if (high === 0 || (high % 10 === 0 && low < 10)) return cardinal(digits);
  if (low === 0) return `${cardinal(`${high}`)} hundred`;
  return `${cardinal(`${high}`)} ${low < 10 ? "oh-" : ""}${cardinal(`${low}`)}`;
}

/** Returns "three point one four". */
export function decimal(number: string): string {
  const [whole = "", ...rest] = number.split(".");
  const fraction = rest.join("");
  return cardinal(whole || "0") + (fraction && ` point ${spell(fraction)}`);
}

/** Reads each digit by itself: "one four". */
export const spell = (digits: string): string => Array.from(digits, (digit) => ONES[Number(digit)]).join(" ");

function belowThousand(number: number): string {
  const hundreds = Math.floor(number / 100);
  const rest = number % 100;
  const small = rest < 20 ? ONES[rest] : TENS[Math.floor(rest / 10)] + (rest % 10 ? `-${ONES[rest % 10]}` : "");
  if (hundreds === 0) return small ?? "";
  return `${ONES[hundreds]} hundred${rest ? ` and ${small}` : ""}`;
}
