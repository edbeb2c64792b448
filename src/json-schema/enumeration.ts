// Many strings → a pattern that branches where they part. llama.cpp goes through the whole vocabulary once for each
// alternative that is open: of thousands beside one another each token would take seconds, for everybody.

import { spelling } from "./pattern.ts";

/** Branches inside one another; the converter takes a hundred brackets. */
const MAX_BRANCHES = 60;

/** A pattern for exactly these strings: no two alike, at least one, without lone surrogates. */
export const enumerationPattern = (texts: readonly string[]): string =>
  `^${branch(texts.map((text) => Array.from(text, spelling)).sort(bySpelling), 0, 0)}$`;

type Spelled = readonly string[];

/** Sorted strings that are alike up to `from`. */
function branch(texts: readonly Spelled[], from: number, depth: number): string {
  const [first = [], last = []] = [texts[0], texts.at(-1)];
  let to = from;
  while (to < first.length && first[to] === last[to]) to++;
  const common = first.slice(from, to).join("");
  if (texts.length === 1) return common;
  const options: string[] = [];
  for (let start = 0; start < texts.length;) {
    const next = texts[start]?.[to];
    let end = start + 1;
    while (end < texts.length && next !== undefined && texts[end]?.[to] === next && depth < MAX_BRANCHES) end++;
    options.push(branch(texts.slice(start, end), to, depth + 1));
    start = end;
  }
  return `${common}(?:${options.join("|")})`;
}

/** What begins with another stands behind it. */
function bySpelling(a: Spelled, b: Spelled): number {
  const at = a.findIndex((character, index) => character !== b[index]);
  if (at < 0) return a.length - b.length;
  const [one, other] = [a[at] as string, b[at]];
  return other === undefined || one > other ? 1 : -1;
}
