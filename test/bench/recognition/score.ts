// Measures how much of a page was read correctly.

/** Between these characters, spaces are ignored. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー、。]`;
const BETWEEN = new RegExp(`(?<=${UNSPACED}) | (?=${UNSPACED})`, "gu");

const plain = (text: string): string => text.normalize("NFKC").replace(/\s+/g, " ").replace(BETWEEN, "").trim();

/** Counts letters of `said` that are wrong, missing or extra; consecutive white space counts as one character. */
export function letterErrors(said: string, heard: string): { readonly errors: number; readonly letters: number } {
  const [a, b] = [[...plain(said)], [...plain(heard)]];
  let row = Uint32Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of a.entries()) {
    const next = new Uint32Array(b.length + 1);
    next[0] = at + 1;
    for (const [other, one] of b.entries()) {
      const changed = (row[other] ?? 0) + (one === letter ? 0 : 1);
      next[other + 1] = Math.min(changed, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1);
    }
    row = next;
  }
  return { errors: row.at(-1) ?? 0, letters: a.length };
}

type Rows = readonly (readonly string[])[];

/** Counts cells with the right text at the right place, in the table with the most of them. */
export function rightCells(rows: Rows, tables: readonly Rows[]): { readonly right: number; readonly cells: number } {
  const right = tables.map((table) => {
    const pairs = rows.flatMap((row, at) => row.map((text, column) => [text, table[at]?.[column]] as const));
    return pairs.filter(([text, found]) => found !== undefined && plain(text) === plain(found)).length;
  });
  return { right: Math.max(0, ...right), cells: rows.flat().length };
}
