// Many texts → what branches where they part. llama.cpp goes through the whole vocabulary once for each alternative that is
// open: of thousands beside one another each token would take seconds, for everybody.

import { spelling } from "./pattern.ts";

/** Branches inside one another; the converter takes a hundred brackets. */
const MAX_BRANCHES = 60;

type Characters = readonly string[];

/** What texts have in common, and in how many ways they go on from there; none: that is all of it. */
export interface Branch {
  readonly common: Characters;
  readonly ways: readonly Branch[];
}

/** A pattern for exactly these strings: no two alike, at least one, without lone surrogates. */
export const enumerationPattern = (texts: readonly string[]): string => `^${pattern(branching(texts))}$`;

function pattern({ common, ways }: Branch): string {
  const behind = ways.length > 0 ? `(?:${ways.map(pattern).join("|")})` : "";
  return common.map(spelling).join("") + behind;
}

/** Exactly these texts, at least one. */
export const branching = (texts: readonly string[]): Branch =>
  branch([...new Set(texts)].map((text) => Array.from(text)).sort(byCharacters), 0, 0);

/** Sorted texts that are alike up to `from`. */
function branch(texts: readonly Characters[], from: number, depth: number): Branch {
  const [first = [], last = []] = [texts[0], texts.at(-1)];
  let to = from;
  while (to < first.length && first[to] === last[to]) to++;
  const ways: Branch[] = [];
  for (let start = 0; start < texts.length && texts.length > 1;) {
    const next = texts[start]?.[to];
    let end = start + 1;
    while (end < texts.length && next !== undefined && texts[end]?.[to] === next && depth < MAX_BRANCHES) end++;
    ways.push(branch(texts.slice(start, end), to, depth + 1));
    start = end;
  }
  return { common: first.slice(from, to), ways };
}

/** What begins with another stands behind it. */
function byCharacters(a: Characters, b: Characters): number {
  const at = a.findIndex((character, index) => character !== b[index]);
  if (at < 0) return a.length - b.length;
  const [one, other] = [a[at] as string, b[at]];
  return other === undefined || one > other ? 1 : -1;
}
