// Guesses the pronunciation of words that no dictionary has: a small transformer reads letters and writes a few
// phonemes for each.

import type { UnknownWordTables } from "./tables.ts";

/** Returns the numbers of a few phonemes for each letter, 0 for none. `letters`: their numbers, at most `maxlen`. */
export type Guess = (letters: readonly number[]) => Promise<readonly number[]>;

export class UnknownWords {
  private readonly letters: ReadonlyMap<string, number>;

  constructor(
    private readonly tables: UnknownWordTables,
    private readonly guess: Guess,
  ) {
    this.letters = new Map(tables.in.map((letter, at) => [letter, at + 1]));
  }

  /** Returns a word's phonemes, a long one's in equal parts; undefined when it has no known letter. */
  async phonemes(word: string): Promise<string | undefined> {
    const letters = Array.from(word).flatMap((letter) => this.letters.get(letter) ?? []);
    if (letters.length === 0) return undefined;
    const most = Math.ceil(letters.length / Math.ceil(letters.length / this.tables.maxlen));
    const ids: number[] = [];
    for (let at = 0; at < letters.length; at += most) ids.push(...(await this.guess(letters.slice(at, at + most))));
    // Repeated ids are one phoneme; 0 separates two equal phonemes, and stands for silence.
    return ids.map((id, at) => (id === 0 || id === ids[at - 1] ? "" : (this.tables.out[id - 1] ?? ""))).join("");
  }
}
