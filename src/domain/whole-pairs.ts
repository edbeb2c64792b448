// Halves of surrogate pairs in JSON text: allowed there, and refused by llama.cpp's parser and others'.

/** Escapes of pairs, of other surrogates, and every other escape. */
const ESCAPES = /\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|u(d[89a-f][0-9a-f]{2})|.)/gis;

/** Nearly every text goes without, and replacing calls back for each escape. */
const SURROGATE = /\\ud[89a-f]/i;

/** The JSON text with a replacement character for each escape of half a pair, in values and in names. */
export function withWholePairs(json: string): string {
  if (!SURROGATE.test(json)) return json;
  return json.replace(ESCAPES, (escape, half: string | undefined) => (half === undefined ? escape : "\\ufffd"));
}
