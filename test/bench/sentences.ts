// Sentences to synthesize and transcribe, and the number of errors in the transcript.

import type { Dice } from "../support/dice.ts";

const WORDS = {
  who: [
    "The teacher",
    "My neighbor",
    "An old sailor",
    "The new driver",
    "Her brother",
    "The doctor",
    "Our cook",
    "A young painter",
  ],
  does: [
    "carried",
    "found",
    "painted",
    "repaired",
    "described",
    "bought",
    "opened",
    "remembered",
    "washed",
    "measured",
  ],
  what: [
    "the wooden table",
    "a small yellow boat",
    "three heavy boxes",
    "the kitchen window",
    "a letter from Paris",
    "the broken clock",
    "seven fresh apples",
    "the long report",
  ],
  when: [
    "before breakfast",
    "on Monday morning",
    "after the storm",
    "near the river",
    "without any help",
    "in the quiet garden",
    "during the winter",
    "with great care",
  ],
};

/** Returns one of 5,120 sentences. */
export function sentence(roll: Dice): string {
  const [who, does, what, when] = Object.values(WORDS).map((list) => list[roll(list.length)] ?? "");
  return `${who} ${does} ${what} ${when}.`;
}

/** Returns the words in lower case. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

/** Counts words that are wrong, missing or extra. */
export function wordErrors(said: readonly string[], heard: readonly string[]): number {
  let row = heard.map((_, at) => at + 1);
  row.unshift(0);
  for (const [at, word] of said.entries()) {
    const next = [at + 1];
    for (const [other, one] of heard.entries()) {
      const changed = (row[other] ?? 0) + (one === word ? 0 : 1);
      next.push(Math.min(changed, (row[other + 1] ?? 0) + 1, (next[other] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
