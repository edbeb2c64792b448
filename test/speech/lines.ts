// Texts that are difficult to read: numbers and dates of all forms, abbreviations, ambiguous and unknown words.

import { dice, pick, type Dice } from "../support/dice.ts";

type Make = (roll: Dice) => string;

const NAMES = ["Anna", "Smith", "Xochitl", "Nguyen", "McDonald", "O'Brien", "Van Gogh", "José", "Björk", "Li"] as const;
const UNITS = [
  "km",
  "kg",
  "mph",
  "GB",
  "lbs",
  "ft",
  "min",
  "ms",
  "°C",
  "°F",
  "%",
  "mAh",
  "oz",
  "kWh",
  "sq ft",
  "cc",
] as const;
const MONTHS = [
  "January",
  "Feb",
  "Mar.",
  "April",
  "May",
  "Jun",
  "July",
  "Aug.",
  "Sept",
  "Sept.",
  "Oct",
  "December",
] as const;
const TITLES = ["Mr.", "Mrs.", "Dr.", "Dr", "Prof.", "St.", "Gen.", "Sen", "Rev.", "Capt.", "Ms.", "Mt."] as const;
const SHORT = [
  "approx.",
  "etc.",
  "e.g.",
  "i.e.",
  "vs.",
  "U.S.",
  "U.S.A.",
  "a.m.",
  "p.m.",
  "Inc.",
  "Ph.D.",
  "No. 5",
] as const;
const CAPITALS = [
  "NASA",
  "FBI",
  "HTTP",
  "SQL",
  "USA",
  "CEOs",
  "PDFs",
  "GPU's",
  "README",
  "IMPORTANT",
  "COVID-19",
] as const;
const CONTRACTIONS = [
  "don't",
  "I'll",
  "you're",
  "they've",
  "she'd",
  "can't",
  "it's",
  "y'all",
  "o'clock",
  "rock 'n' roll",
] as const;
const COMPOUNDS = [
  "well-known",
  "mother-in-law",
  "state-of-the-art",
  "re-entry",
  "COVID-19",
  "B2B",
  "iPhone",
  "x-ray",
] as const;
const ADDRESSES = [
  "https://example.com/a?b=c",
  "www.test.org",
  "foo.bar@baz.co.uk",
  "github.com/user/repo",
  "10.0.0.1",
] as const;
const CODE = [
  "foo_bar()",
  "--verbose",
  "a[0]",
  "std::vector<int>",
  "x += 1;",
  "C:\\Temp",
  "$HOME",
  "rm -rf /",
  "`ls`",
] as const;
const SIGNS = [
  "—",
  "–",
  "...",
  "…",
  "!?",
  "?!",
  ";",
  ":",
  "(",
  ")",
  '"',
  "“",
  "”",
  "'",
  "‘",
  "/",
  "&",
  "@",
  "#",
  "*",
] as const;
const EMOJI = ["😀", "👩‍👩‍👧", "🇩🇪", "❤️", "👍🏽", "¯\\_(ツ)_/¯", ":-)", ":D", "<3", "✓", "→", "½", "²", "™"] as const;
const FOREIGN = [
  "naïve",
  "façade",
  "Ångström",
  "Москва",
  "東京",
  "ñandú",
  "œuvre",
  "α",
  "١٢",
  "ﬁne",
  "①",
  "𝐇𝐢",
] as const;
const CURRENCIES = ["$", "£", "€", "¥", "₹", "USD ", "EUR ", "Rs. "] as const;
const TWO_SOUNDS = [
  "I read the book yesterday and will read it again.",
  "They live near live music.",
  "Please record the record.",
  "The wind will wind the flag.",
  "He is close to the door; close it.",
  "We object to the object.",
  "She will present the present at present.",
  "Lead pipes lead to lead poisoning.",
  "The bass played the bass guitar.",
  "Tears fall when it tears.",
  "I used to use the used car.",
  "Do you use it? What is its use?",
  "The minute hand shows a minute detail.",
  "A perfect plan to perfect it.",
  "They rebel; a rebel.",
  "Content with the content.",
  "The desert will desert us.",
  "He wound the bandage around the wound.",
  "Separate them into separate boxes.",
  "I estimate that the estimate is low.",
  "We went by to the store and walked in.",
  "What are you looking at? Come in!",
  "To err is human, to eat apples too.",
  "Who are you talking to?",
  "The end of the hour, an honor.",
  "I am. I am here. Am I? I'm an AM radio fan.",
] as const;

const digits = (roll: Dice, count: number): string => Array.from({ length: count }, () => roll(10)).join("");
const number = (roll: Dice): string => `${1 + roll(10 ** (1 + roll(7)))}`;
const grouped = (roll: Dice): string => Number(number(roll)).toLocaleString("en-US");
const amount = (roll: Dice): string =>
  pick(roll, [number(roll), grouped(roll), `${number(roll)}.${digits(roll, 1 + roll(3))}`]);
const two = (value: number): string => `${value}`.padStart(2, "0");

/** Returns an unknown word of syllables that could be English. */
function invented(roll: Dice): string {
  const part = (parts: string): string => pick(roll, parts.split(" ") as [string, ...string[]]);
  const syllable = () =>
    part("b bl ch cr d f fl g gr h j k l m n p qu r s sh st t th tr v w x z") + part("a e i o u ai ee oo y");
  const word = Array.from({ length: 1 + roll(4) }, syllable).join("") + part("ck ld m n ng nt r s st t x");
  const ending = part(" - s ed ing ly 's er tion").replace("-", "");
  return pick(roll, [word, word, word[0]?.toUpperCase() + word.slice(1), word.toUpperCase()]) + ending;
}

const sentences: readonly [Make, ...Make[]] = [
  (roll) => `There were ${amount(roll)} of them, and ${number(roll)} more.`,
  (roll) => `It was the ${number(roll)}${pick(roll, ["st", "nd", "rd", "th"])} time since ${1100 + roll(1000)}.`,
  (roll) =>
    `In ${1000 + roll(1100)}s and the ${pick(roll, ["'90s", "1980s", "80's"])} it was ${digits(roll, 1 + roll(12))}.`,
  (roll) =>
    `On ${1 + roll(12)}/${1 + roll(31)}/${1900 + roll(200)} or ${2000 + roll(30)}-${two(1 + roll(13))}-${two(roll(33))}.`,
  (roll) =>
    `Born ${pick(roll, MONTHS)} ${1 + roll(31)}${pick(roll, ["", "th", ", 1999", " 2001"])}, died the ${1 + roll(31)} of ${pick(roll, MONTHS)}`,
  (roll) =>
    `It costs ${pick(roll, CURRENCIES)}${amount(roll)}${pick(roll, ["", " million", "k", "B", " billion", "."])} now`,
  (roll) => `Only ${amount(roll)}${pick(roll, [" ", ""])}${pick(roll, UNITS)} at ${roll(100)}% of -${number(roll)}.`,
  (roll) =>
    `At ${roll(26)}:${two(roll(62))}${pick(roll, ["", " am", "pm", " p.m.", " PM", `:${two(roll(61))}`])} we left.`,
  (roll) =>
    `${pick(roll, TITLES)} ${pick(roll, NAMES)}, ${pick(roll, SHORT)} ${pick(roll, NAMES)}'s ${pick(roll, TITLES)}`,
  (roll) =>
    `${pick(roll, NAMES)} ${pick(roll, CONTRACTIONS)} ${pick(roll, COMPOUNDS)} ${pick(roll, CAPITALS)} ${pick(roll, SIGNS)}`,
  (roll) => `The ${invented(roll)} ${invented(roll)}${pick(roll, SIGNS)} and ${invented(roll)}.`,
  (roll) => `${pick(roll, SIGNS)}${pick(roll, CAPITALS)}${pick(roll, SIGNS)} ${invented(roll)}-${pick(roll, CAPITALS)}`,
  (roll) =>
    `See ${pick(roll, ADDRESSES)} or ${pick(roll, CODE)}, ${pick(roll, EMOJI)} ${pick(roll, FOREIGN)}${pick(roll, SIGNS)}`,
  (roll) =>
    `${pick(roll, FOREIGN)}${pick(roll, EMOJI)}${number(roll)}${pick(roll, CODE)}${pick(roll, SIGNS)}${invented(roll)}`,
  (roll) =>
    `Chapter ${pick(roll, ["I", "IV", "XII", "XC"])}, Henry ${pick(roll, ["VIII", "II."])} and version ${roll(9)}.${roll(20)}.${roll(9)}`,
  (roll) =>
    `Call ${digits(roll, 3)}-${digits(roll, 3)}-${digits(roll, 4)} or ${digits(roll, 3)}-${digits(roll, 4)}, room ${digits(roll, 3)}${pick(roll, ["a", "B", ""])}.`,
  (roll) =>
    `${roll(12)}/${1 + roll(12)} of pages ${number(roll)}${pick(roll, ["-", "–", " - "])}${number(roll)}, #${roll(50)}, +${roll(9)}`,
  (roll) => `${pick(roll, TWO_SOUNDS)} ${pick(roll, TWO_SOUNDS).toUpperCase()}`,
  (roll) => pick(roll, TWO_SOUNDS),
  (roll) =>
    `${pick(roll, NAMES)} ${pick(roll, ["=", "<", ">", "~", "±", "×", "|", "^", "_"])} ${pick(roll, [number(roll), "y"])}`,
  (roll) =>
    `${pick(roll, ["J.", "A. B.", "C."])} ${pick(roll, NAMES)} ${pick(roll, ["Jr.", "III", "et al.", "Co."])} said: "${pick(roll, CONTRACTIONS)}!"`,
];

/** Returns this many lines; the same seed gives the same lines. */
export function demandingLines(count: number, seed: number): string[] {
  const roll = dice(seed);
  return Array.from({ length: count }, () => pick(roll, sentences)(roll));
}
