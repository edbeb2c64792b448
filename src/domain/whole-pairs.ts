// Replaces halves of surrogate pairs in JSON text: JSON allows them, but the parsers of llama.cpp and others reject
// them.

import { isEscaped } from "./json-pieces.ts";

/** Matches what looks like the escape of a surrogate, and the second half of a pair directly after it. */
const HALVES = /\\u(d[89a-f][0-9a-f]{2})(\\ud[c-f][0-9a-f]{2})?/gi;
const FIRST_HALF = /^d[89ab]/i;
const REPLACEMENT = "\\ufffd";

/** Returns the JSON text with U+FFFD for each escape of half a pair, in values and in names. */
export function withWholePairs(json: string): string {
  // Only surrogates call back: a body may have millions of other escapes.
  return json.replace(HALVES, (both: string, unit: string, second: string | undefined, at: number) => {
    if (isEscaped(json, at)) return `\\u${unit}${second === undefined ? "" : REPLACEMENT}`;
    if (!FIRST_HALF.test(unit)) return second === undefined ? REPLACEMENT : REPLACEMENT + REPLACEMENT;
    return second === undefined ? REPLACEMENT : both;
  });
}
