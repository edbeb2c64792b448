// Sets of Unicode code points as sorted ranges without overlap.

export type CharSet = readonly (readonly [from: number, to: number])[];

export const MAX_CODE_POINT = 0x10ffff;
export const EVERY_CHAR: CharSet = [[0, MAX_CODE_POINT]];

export function union(...sets: readonly CharSet[]): CharSet {
  const sorted = sets.flat().sort((a, b) => a[0] - b[0]);
  const out: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = out.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else out.push([from, to]);
  }
  return out;
}

export function complement(set: CharSet): CharSet {
  const out: [number, number][] = [];
  let next = 0;
  for (const [from, to] of set) {
    if (from > next) out.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= MAX_CODE_POINT) out.push([next, MAX_CODE_POINT]);
  return out;
}

export function intersect(a: CharSet, b: CharSet): CharSet {
  const out: [number, number][] = [];
  for (let [i, j] = [0, 0], one = a[i], other = b[j]; one && other; one = a[i], other = b[j]) {
    const [from, to] = [Math.max(one[0], other[0]), Math.min(one[1], other[1])];
    if (from <= to) out.push([from, to]);
    if (one[1] < other[1]) i++;
    else j++;
  }
  return out;
}

export function includes(set: CharSet, char: number): boolean {
  let [low, high] = [0, set.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((set[middle]?.[1] ?? 0) < char) low = middle + 1;
    else high = middle;
  }
  return (set[low]?.[0] ?? Infinity) <= char;
}

/** Returns how many code points a set has. */
export const size = (set: CharSet): number => set.reduce((total, [from, to]) => total + to - from + 1, 0);

/** Returns the set of the characters of a text. */
export const chars = (text: string): CharSet => union(...[...text].map((char) => single(Number(char.codePointAt(0)))));

export const single = (char: number): CharSet => [[char, char]];

/** Writes a set as it stands between brackets, in GBNF and in patterns that the converter passes on to it. */
export const spellRanges = (set: CharSet): string =>
  set.map(([from, to]) => (from === to ? spellChar(from) : `${spellChar(from)}-${spellChar(to)}`)).join("");

/** Writes letters, digits and spaces as they are and all else by number, so that it has no meaning of its own. */
export function spellChar(char: number): string {
  if (/^[0-9A-Za-z ]$/.test(String.fromCodePoint(char))) return String.fromCodePoint(char);
  const hex = char.toString(16).toUpperCase();
  if (char <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return char <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

const DIGIT: CharSet = [[0x30, 0x39]];
const WORD: CharSet = union(DIGIT, [[0x41, 0x5a]], [[0x5f, 0x5f]], [[0x61, 0x7a]]);
const LINE_ENDS: CharSet = chars("\n\r\u2028\u2029");
const SPACE: CharSet = union(chars("\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff"), LINE_ENDS, [[0x2000, 0x200a]]);

/** All code points that have a UTF-8 form: everything but surrogates. */
export const SPELLABLE: CharSet = complement([[0xd800, 0xdfff]]);

/** The characters that `.` matches. */
export const DOT: CharSet = complement(LINE_ENDS);

/** The characters that `\d`, `\w`, `\s` and their opposites match. */
export const CLASS_ESCAPES: ReadonlyMap<string, CharSet> = new Map([
  ["d", DIGIT],
  ["D", complement(DIGIT)],
  ["w", WORD],
  ["W", complement(WORD)],
  ["s", SPACE],
  ["S", complement(SPACE)],
]);
