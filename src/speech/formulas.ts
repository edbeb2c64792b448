// Rewrites formulas, comparisons, Greek letters, lists and groups of digits, and points in time, as they are spoken.

import { WORD } from "./characters.ts";

/** What a pattern matches, and what is spoken in its place. */
export type Form = readonly [pattern: RegExp, spoken: string | ((all: string, ...groups: string[]) => string)];

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
];
