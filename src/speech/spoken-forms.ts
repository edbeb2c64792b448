// Rewrites what people write with digits and marks into the words or simpler forms that the other rules read: addresses,
// telephone numbers, opening hours, streets, amounts of money, formulas. Goes beyond the original.

import { anyOf, SPACE, WORD } from "./characters.ts";
import { FORMULAS, type Form } from "./formulas.ts";
import { magnitude, SCALE_END } from "./quantities.ts";

const NUMBER = String.raw`\p{Nd}+(?:[,.]\p{Nd}+)*`;
const SIGNS = "$£€¥₹₩";
const SIGN = `[${SIGNS}]`;
const SCALE = String.raw` ?(?:hundred|thousand|million|billion|trillion|[kKmMbBtT]n?${SCALE_END})(?![${WORD}])`;
const CLOCK = String.raw`\p{Nd}{1,2}(?::\p{Nd}{2})?`;
const HALF_DAY = String.raw` ?[AaPp]\.?[Mm]\.?(?![${WORD}])`;
const TOP_DOMAINS = "com|org|net|edu|gov|io|co|uk|de|fr|info|biz|ca|au|tv|ai|dev|app";
/** Before telephone numbers behind the words that give them: "Call us at 570-1200"; but not "call 500-1000 people". */
const CALL =
  String.raw`(?<=\b(?:[Cc]all|[Dd]ial|[Pp]hone|[Tt]el)[.:]?(?: us| me)?(?: at)? )` +
  String.raw`(?![\p{Nd}\-]+ (?:people|\p{Ll}{3,}[^sy]s)\b)`;
/** Nothing of a word, and no dot inside one, may follow. */
const END = String.raw`(?![${WORD}\-]|\.[${WORD}])`;

const ADDRESS_SIGNS: Readonly<Record<string, string>> = {
  "/": "slash",
  ".": "dot",
  "-": "dash",
  "+": "plus",
  _: "underscore",
};
const DOLLARS: Readonly<Record<string, string>> = {
  A: "Australian ",
  AU: "Australian ",
  C: "Canadian ",
  CA: "Canadian ",
  HK: "Hong Kong ",
  NZ: "New Zealand ",
  S: "Singapore ",
};
const CURRENCIES: Readonly<Record<string, string>> = { US$: "$", USD: "$", EUR: "€", GBP: "£" };
const SPANS: Readonly<Record<string, string>> = {
  Mon: "Monday",
  Tue: "Tuesday",
  Tues: "Tuesday",
  Wed: "Wednesday",
  Thu: "Thursday",
  Thur: "Thursday",
  Thurs: "Thursday",
  Fri: "Friday",
  Sat: "Saturday",
  Sun: "Sunday",
  Jan: "January",
  Feb: "February",
  Mar: "March",
  Apr: "April",
  May: "May",
  Jun: "June",
  Jul: "July",
  Aug: "August",
  Sep: "September",
  Sept: "September",
  Oct: "October",
  Nov: "November",
  Dec: "December",
};
const STREETS: Readonly<Record<string, string>> = {
  St: "Street",
  Ave: "Avenue",
  Blvd: "Boulevard",
  Dr: "Drive",
  Rd: "Road",
  Ln: "Lane",
  Ct: "Court",
  Pl: "Place",
  Sq: "Square",
  Hwy: "Highway",
  Pkwy: "Parkway",
};
const ROOMS: Readonly<Record<string, string>> = { Apt: "Apartment", Ste: "Suite", Rm: "Room", Bldg: "Building" };
/** Parts of books and works, before their numbers. */
const PARTS: Readonly<Record<string, string>> = {
  Art: "Article",
  Eq: "Equation",
  Eqs: "Equations",
  Op: "Opus",
  Sec: "Section",
  p: "page",
};

const name = anyOf(Object.keys(SPANS));
const street = anyOf(Object.keys(STREETS));
const room = anyOf(Object.keys(ROOMS));
const NAME = new RegExp(name, "gu");

/** In the order in which they apply. */
const FORMS: readonly Form[] = [
  // Characters: "1½", "H₂O", "10⁻⁶", "−5"; but "x²" is squared, "H⁺" has a charge, "2019¹" a footnote.
  [/(?<=[\p{L}\p{N}])(?=[¼-¾⅐-⅞])|(?<=[¼-¾⅐-⅞])(?=[\p{L}\p{N}])/gu, " "],
  [/[¼-¾⅐-⅞]/gu, (part) => part.normalize("NFKC").replace("⁄", "/")],
  [/(?<=\p{L})[₀-₉]+/gu, (digits) => digits.normalize("NFKC")],
  [/(?<=\p{Nd})⁄(?=\p{Nd})/gu, "/"],
  [/(?<=[\p{L}\p{Nd}])¹(?![⁰¹²³⁴-⁹])/gu, ""],
  [
    /(?<=\p{Nd}|\)|(?<!\p{L})\p{L})(?![²³](?![⁰¹²³⁴-⁹]))[⁺⁻]?[⁰¹²³⁴-⁹]+/gu,
    (power) => ` to the power of ${power.normalize("NFKC")}`,
  ],
  [/−/g, " minus "],
  ...FORMULAS,

  // "a.b@example.com"
  [
    /(?<![\p{L}\p{N}_.+-])([\p{L}\p{N}_.+-]{1,64})@((?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24})(?![\p{L}\p{N}])/gu,
    (_, local, host) => `${addressInWords(local)} at ${addressInWords(host)}`,
  ],
  // "https://www.example.com/a"; the dots of ".NET" and ".5".
  [
    new RegExp(
      String.raw`(?<![${WORD}.@/\-])(?:https?://|(?=[a-zA-Z0-9.\-]{1,255}\.(?:${TOP_DOMAINS})${END}))` +
        String.raw`((?:[a-zA-Z0-9\-]{1,63}\.){1,8}[a-z]{2,24})` +
        String.raw`((?:/(?:[${WORD}.\-/]*[${WORD}/])?)?)${END}(?![@?=])`,
      "gu",
    ),
    (_, host, path) => addressInWords(host.replace(/^www(?=\.)/, "W W W") + path.replace(/\/$/, "")),
  ],
  [new RegExp(String.raw`(?<=^|[${SPACE}(])\.(?=\p{L})`, "gu"), "dot "],
  [new RegExp(String.raw`(?<=^|[${SPACE}(])\.(?=\p{Nd})`, "gu"), "0."],

  // "(555) 123-4567", "+44 20 7946 0958", "1-800-555-1234", "555-1234", "555.123.4567"; but "500-1000 words".
  [
    new RegExp(
      String.raw`(?<![${WORD}.\-+${SIGNS}])(?:(?:\+?\p{Nd}{1,3}[ .\-])?\(\p{Nd}{3}\)[ \-]?\p{Nd}{3}[ .\-]\p{Nd}{4}` +
        String.raw`|\+\p{Nd}{1,3}(?:[ .\-]\p{Nd}{2,4}){2,4}|(?:(?:1-)?\p{Nd}{3}-|${CALL}|(?!\p{Nd}{2}0-\p{Nd}{2}[05]0))\p{Nd}{3}-\p{Nd}{4}` +
        String.raw`|\p{Nd}{3}\.\p{Nd}{3}\.\p{Nd}{4})${END}`,
      "gu",
    ),
    telephone,
  ],

  // "9am-5pm", "5pm", "10:00-11:30", "Mon-Fri", "Tue/Thu".
  [
    new RegExp(String.raw`(?<![${WORD}.:$])(${CLOCK}(?:${HALF_DAY})?) ?[\-–—] ?(?=${CLOCK}${HALF_DAY})`, "gu"),
    "$1 to ",
  ],
  // With dots the letters are spelled. A dot that follows can be the sentence's.
  [
    new RegExp(String.raw`(?<=(?<![${WORD}.$])${CLOCK}) ?([AaPp])[Mm](?![${WORD}.])`, "gu"),
    (_, half) => ` ${half.toUpperCase()}.M.`,
  ],
  [/(?<![\p{Nd}:])(\p{Nd}{1,2}:\p{Nd}{2}) ?[-–—] ?(?=\p{Nd}{1,2}:\p{Nd}{2}(?![\p{Nd}:]))/gu, "$1 to "],
  [
    new RegExp(String.raw`(?<![${WORD}\-/])(?:${name})(?:(?: ?[\-–] ?|/| to )(?:${name}))+${END}`, "gu"),
    (all) =>
      all
        .replace(NAME, (short) => SPANS[short] ?? short)
        .replace(/ ?[-–] ?/g, " to ")
        .replaceAll("/", " and "),
  ],

  // Not "Mon", "Sat" and "Sun" by themselves, which can be other words.
  [
    new RegExp(
      String.raw`(?<![${WORD}\-])(?:Tues?|Wed|Thu(?:rs?)?|Fri|(?:Mon|Sat|Sun)(?=,? (?:${name})(?![${WORD}])))(?![${WORD}.'\-])`,
      "gu",
    ),
    (short) => SPANS[short] ?? short,
  ],

  // "12 Main St", "Park Ave", "5th St", "Elm Dr. and", "Apt 5".
  [
    new RegExp(
      String.raw`(?<=(?<![${WORD}])\p{Nd}{1,5} (?:\p{Lu}[\p{L}']{0,20}\.? |\p{Nd}{1,3}(?:st|nd|rd|th) ){1,3})` +
        String.raw`(${street})(?![${WORD}])(?!(?<=Dr)\.? (?!${room})\p{Lu})(?:\.(?= (?:\p{Ll}|\p{Nd}|#|${room})|,))?`,
      "gu",
    ),
    (_, short) => STREETS[short] ?? short,
  ],
  [
    /(?<=\p{Lu}\p{L}{1,20} |\p{Nd}(?:st|nd|rd|th) )(?:Ave|Blvd|Rd|Hwy|Pkwy|(?<=\p{Nd}\p{Ll}\p{Ll} )St)(?![\p{L}.'])/gu,
    (short) => STREETS[short] ?? short,
  ],
  [/(?<=\p{Lu}\p{L}{2,20} )Dr\.(?= \p{Ll})/gu, "Drive"],
  [new RegExp(String.raw`(?<!\p{L})(${room})\.? (?=#?\p{Nd})`, "gu"), (_, short) => `${ROOMS[short]} `],

  // "20€", "5 USD"; "A$20"; "$10-$20" and "$10-20"; "-$5".
  [
    new RegExp(
      String.raw`(?<![${WORD}.,${SIGNS}])(${NUMBER}(?:${SCALE})?) ?(${SIGN}|USD|EUR|GBP)(?![${WORD}]|\.[${WORD}])`,
      "gu",
    ),
    "$2$1",
  ],
  [
    new RegExp(String.raw`(?<![${WORD}])(AU?|CA?|HK|NZ|S)\$ ?(${NUMBER})(${SCALE})?(?![${WORD}])`, "gu"),
    (_, country, amount, scale = "") => `${amount} ${magnitude(scale.trimStart())} ${DOLLARS[country]}dollars`,
  ],
  [
    new RegExp(String.raw`(?<![${WORD}])(US\$|USD|EUR|GBP) ?(?=\p{Nd})`, "gu"),
    (all, currency) => CURRENCIES[currency] ?? all,
  ],
  [new RegExp(String.raw`(${SIGN}${NUMBER}${SCALE}) ?[\-–] ?(?=${SIGN}\p{Nd})`, "gu"), "$1 to "],
  [new RegExp(String.raw`(${SIGN})(${NUMBER})(?: ?[\-–] ?\1|[\-–])(?=\p{Nd})`, "gu"), "$2 to $1"],
  [new RegExp(String.raw`(?<![${WORD}.,${SIGNS}])(${NUMBER}) ?[\-–] ?(?=${SIGN}\p{Nd})`, "gu"), "$1 to "],
  [new RegExp(String.raw`(?<![${WORD}])-(?=${SIGN}\p{Nd})`, "gu"), "minus "],
  [new RegExp(String.raw`(?<![${WORD}+])\+(?=${SIGN}\p{Nd})`, "gu"), "plus "],

  [new RegExp(String.raw`(${SIGN}${NUMBER}(?:${SCALE})?) ?/ ?(?=\p{L})`, "gu"), "$1 per "],

  // `6'2"`, "6 ft 2 in", `5" screen`: no quotation ends there.
  [new RegExp(String.raw`(?<![${WORD}.'])(\p{Nd})['′] ?(\p{Nd}{1,2})(?:["”″]|'')?(?![${WORD}'])`, "gu"), "$1 foot $2"],
  [
    new RegExp(String.raw`(?<=\p{Nd} ?(?:ft\.?|feet|foot) \p{Nd}{1,2}) ?in(?![${WORD}])(?:\.(?= \p{Ll}))?`, "gu"),
    " inches",
  ],
  [/^([^"“”]{0,400}\p{Nd})["″](?=[ -]\p{L})/u, "$1 inch"],

  // "C#", "v2.1", "24/7", "4.5/5", "3x", "H2O".
  [new RegExp(String.raw`(?<![${WORD}])([A-G])#(?![${WORD}])`, "gu"), "$1 sharp"],
  [
    new RegExp(String.raw`(?<![${WORD}.])([vV])(\p{Nd}+(?:\.\p{Nd}+)+)${END}`, "gu"),
    (_, v, number) => `${v} ${number.replaceAll(".", " point ")}`,
  ],
  [new RegExp(String.raw`(?<![${WORD}./])(24(?=/7)|50(?=/50))/(7|50)(?![${WORD}/])`, "gu"), "$1 $2"],
  [new RegExp(String.raw`(?<![${WORD}./])(\p{Nd}{1,3}\.\p{Nd})/(\p{Nd}{1,3})${END}`, "gu"), "$1 out of $2"],
  [new RegExp(String.raw`(?<=\p{Nd})x(?= \p{Ll})`, "gu"), " times"],
  // "20 sq. ft.", "12 fl. oz."
  [/(?<=\p{Nd}[ -]?)(sq|fl)\. (?=(?:ft|mi|oz)(?!\p{L}))/gu, "$1 "],
  // "Op. 9"
  [
    new RegExp(String.raw`(?<!\p{L})(${anyOf(Object.keys(PARTS))})\. (?=\p{Nd})`, "gu"),
    (_, short) => `${PARTS[short]} `,
  ],
  // "max. 10"; but not "5 min."
  [new RegExp(String.raw`(?<![${WORD}]|\p{Nd} )([Mm])(ax|in)\. (?=\p{Nd})`, "gu"), "$1$2imum "],
  // "us", written in capitals, is not preceded by "the".
  [/\bTHE US\b/g, "THE U.S."],
  [
    new RegExp(
      String.raw`(?<![${WORD}])(?!([A-Z])2\1(?![${WORD}]))(?=[A-Za-z]+[0-9])(?:(?:H|C|N|O|S|Na|Ca|Cl|Fe|Mg)(?:[1-9][0-9]?)?){2,8}(?![${WORD}])`,
      "gu",
    ),
    (formula) => (formula.match(/[A-Za-z]|[0-9]+/g) ?? []).join(" ").toUpperCase(),
  ],
];

/** Returns the text with these forms rewritten. It must have plain apostrophes and single spaces. */
export function spokenForms(text: string): string {
  return FORMS.reduce((result, [pattern, spoken]) => {
    return typeof spoken === "string" ? result.replace(pattern, spoken) : result.replace(pattern, spoken);
  }, text);
}

function telephone(number: string): string {
  const groups = number.match(/\p{Nd}+/gu) ?? [];
  return `${number.startsWith("+") ? "plus " : ""}${groups.map((group) => Array.from(group).join(" ")).join(", ")}`;
}

function addressInWords(address: string): string {
  return address.replace(/[/.+_-]/g, (sign) => ` ${ADDRESS_SIGNS[sign]} `);
}
