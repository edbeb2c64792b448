// Rewrites formulas, comparisons, Greek letters, lists and groups of digits, and points in time, as they are spoken.

import { WORD } from "./characters.ts";

/** What a pattern matches, and what is spoken in its place. */
export type Form = readonly [pattern: RegExp, spoken: string | ((all: string, ...groups: string[]) => string)];

const SIGNS: Readonly<Record<string, string>> = {
  "≥": "greater than or equal to",
  "≤": "less than or equal to",
  "≠": "not equal to",
  "≈": "approximately",
  "√": "square root of",
  "∞": "infinity",
  "‰": "per thousand",
};
/** Signs written as in programs. */
const WRITTEN: Readonly<Record<string, string>> = { ">=": "≥", "<=": "≤", "!=": "≠", "->": "→", "=>": "→" };
const GREEK: Readonly<Record<string, string>> = {
  α: "alpha",
  β: "beta",
  γ: "gamma",
  δ: "delta",
  ε: "epsilon",
  ζ: "zeta",
  η: "eta",
  θ: "theta",
  ι: "iota",
  κ: "kappa",
  λ: "lambda",
  μ: "mu",
  ν: "nu",
  ξ: "xi",
  ο: "omicron",
  π: "pi",
  ρ: "rho",
  σ: "sigma",
  ς: "sigma",
  τ: "tau",
  υ: "upsilon",
  φ: "phi",
  χ: "chi",
  ψ: "psi",
  ω: "omega",
};

const NUMBER = String.raw`\p{Nd}+(?:[.,]\p{Nd}+)*`;
const OPERATOR = String.raw`[\-–*/x+×÷]`;
/** Thousands, or Indian lakhs: "1,234,567.5", "12,34,567". */
const GROUPED = /^(?!0)(?:\p{Nd}{1,3}(?:,\p{Nd}{3})+|\p{Nd}{1,2}(?:,\p{Nd}{2})+,\p{Nd}{3})(?:\.\p{Nd}+)?$/u;

/** In the order in which they apply. */
export const FORMULAS: readonly Form[] = [
  // "2026-11-29T18:14:03Z"
  [
    new RegExp(
      String.raw`(?<![${WORD}.\-])(\p{Nd}{4}-\p{Nd}{2}-\p{Nd}{2})T(\p{Nd}{2}:\p{Nd}{2}(?::\p{Nd}{2}(?:\.\p{Nd}+)?)?)` +
        String.raw`(?:(Z)|([+\-])(\p{Nd}{2}):?(\p{Nd}{2}))?(?![${WORD}:])`,
      "gu",
    ),
    (_, date, time, utc, sign, hours = "", minutes) => {
      const parts = sign
        ? [sign === "+" ? "plus" : "minus", hours.replace(/^0/, ""), minutes === "00" ? "" : minutes]
        : [];
      return [`${date}, ${time}`, utc || sign ? "U T C" : "", ...parts].filter(Boolean).join(" ");
    },
  ],

  // "1e-5", "UTC-8"
  [
    new RegExp(String.raw`(?<![${WORD}.])(${NUMBER})[eE](?=[+\-]\p{Nd}{1,3}(?![${WORD}]))`, "gu"),
    "$1 times 10 to the power of ",
  ],
  [/(?<=\b(?:UTC|GMT))-(?=\p{Nd})/gu, " minus "],

  // "x >= 5", "a -> b"
  [/(?<![<>=!-])(?:[<>!]=|[=-]>)(?![=>])/g, (sign) => WRITTEN[sign] ?? sign],

  // "10 - 4 = 6", "10/2=5"; but "1/2 = 50%"
  [
    new RegExp(
      String.raw`(?<![${WORD}.,:]|\p{Nd} ?${OPERATOR} ?)${NUMBER}(?:(?: ${OPERATOR} |${OPERATOR})${NUMBER})+(?= ?[=≠≈<>≤≥] ?(?:[\-$£€]?\p{Nd}|\?))`,
      "gu",
    ),
    arithmetic,
  ],
  [/(?<=\p{Nd})(?:\*| \* )(?=\p{Nd})/gu, " times "],
  [/(?<=\p{Nd}) x (?=\p{Nd})/gu, " by "],
  [/ ?([≥≤≠≈√∞‰]) ?/g, (_, sign) => ` ${SIGNS[sign]} `],

  // "the σ", "2π"; but not the ohms of "5 Ω" and the micrograms of "5 μg".
  [/\u2126/g, "Ω"],
  [new RegExp(String.raw`(?<=\p{Nd} ?)\u03bc(?=[gmslLFAVW](?![${WORD}]))`, "gu"), "\xb5"],
  [
    /(?<!\p{L}|\p{Nd} ?(?=Ω))(?<=(\p{Nd})?)([Α-Ωα-ω])(?!\p{L})/gu,
    (_, digit, letter) => `${digit ? " " : ""}${GREEK[letter.toLowerCase()] ?? letter}`,
  ],

  // "1 000 000"; "1,2,3" and "0,5"
  [
    /(?<![\p{Nd}+)][ .,]?|\p{L})(?!0)\p{Nd}{1,3}(?: \p{Nd}{3}){2,}(?! ?\p{Nd}|\p{L}|[.,]\p{Nd})/gu,
    (number) => number.replaceAll(" ", ","),
  ],
  [
    /(?<!\p{Nd}[.,]?)\p{Nd}+(?:\.\p{Nd}+)?(?:,\p{Nd}+(?:\.\p{Nd}+)?)+/gu,
    (digits) => (GROUPED.test(digits) ? digits : digits.replaceAll(",", ", ")),
  ],
];

function arithmetic(formula: string): string {
  return formula
    .replace(/ ?[-–] ?/g, " minus ")
    .replace(/ ?[*x] ?/g, " times ")
    .replace(/(\p{Nd}+) ?\/ ?(?=(\p{Nd}+))/gu, (all: string, above: string, below: string) =>
      Number(above) < Number(below) ? all : `${above} divided by `,
    );
}
