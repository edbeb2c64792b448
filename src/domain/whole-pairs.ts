// Replaces halves of surrogate pairs in JSON text: JSON allows them, but the parsers of llama.cpp and others reject
// them.

/** Matches escapes of surrogate pairs, of single surrogates (group 1), and all other escapes. */
const ESCAPES = /\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u(d[89a-f][0-9a-f]{2})|.)/gis;

/** A quick test: almost no text has surrogates, and `replace` calls back for every escape. */
const SURROGATE = /\\ud[89a-f]/i;

/** Returns the JSON text with U+FFFD for each escape of half a pair, in values and in names. */
export function withWholePairs(json: string): string {
  if (!SURROGATE.test(json)) return json;
  return json.replace(ESCAPES, (escape, half: string | undefined) => (half === undefined ? escape : "\\ufffd"));
}
