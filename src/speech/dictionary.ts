// A dictionary of words and their pronunciations, some of which depend on the part of speech.

import { capitalize } from "./characters.ts";
import type { SortedLines } from "./sorted-lines.ts";

/** Phonemes, or phonemes by part of speech: "DEFAULT" for all others, "None" for the end of a phrase. */
export type Entry = string | ReadonlyMap<string, string | undefined>;

export class Dictionary {
  constructor(private readonly lines: SortedLines) {}

  /** Returns the entry of a word; falls back from lower case to a capitalized entry, and the other way round. */
  get(word: string): Entry | undefined {
    const own = this.lines.get(word);
    if (own !== undefined) return entryOf(own);
    if (word.length < 2) return undefined;
    const small = word.toLowerCase();
    const capital = capitalize(small);
    if (word !== small && word !== capital) return undefined;
    const other = this.lines.get(word === small ? capital : small);
    return other === undefined ? undefined : entryOf(other);
  }

  has(word: string): boolean {
    return this.get(word) !== undefined;
  }
}

function entryOf(value: string): Entry {
  const fields = value.split("\t");
  if (fields.length === 1) return value;
  const pairs = fields.flatMap((tag, at): [string, string | undefined][] =>
    at % 2 === 0 ? [[tag, fields[at + 1] || undefined]] : [],
  );
  return new Map(pairs);
}
