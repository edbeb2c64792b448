// Pronounces small words that depend on their role in the sentence and on what follows: "the end", "to eat", "used to".

import type { Entry } from "./dictionary.ts";
import { PRIMARY, SECONDARY, type Stress } from "./stress.ts";

/** What follows a word. */
export interface Context {
  /** How the next word begins; undefined when nothing or a pause follows. */
  readonly next?: "vowel" | "consonant" | undefined;
  /** Whether the next word is "to". */
  readonly isTo: boolean;
}

/** Returns a function word's phonemes; undefined for other words. `entry` looks up a word in the dictionary. */
export function functionWord(
  word: string,
  tag: string,
  stress: Stress | undefined,
  context: Context,
  entry: (word: string) => Entry | undefined,
): string | undefined {
  switch (word.toLowerCase()) {
    case "a":
      return tag === "DT" ? "ɐ" : "ˈA";
    case "am":
      return context.next === undefined || word !== "am" || (stress ?? 0) > 0 ? plain(entry("am")) : "ɐm";
    case "an":
      return "ɐn";
    case "i":
      return word === "I" && tag === "PRP" ? `${SECONDARY}I` : undefined;
    case "by":
      return tag.startsWith("RB") ? "bˈI" : undefined;
    case "to":
      if (!isTo(word, tag)) return undefined;
      if (context.next === undefined) return plain(entry("to"));
      return context.next === "vowel" ? "tʊ" : "tə";
    case "in":
      if (word === "IN" && tag === "NNP") return undefined;
      return context.next === undefined || tag !== "IN" ? `${PRIMARY}ɪn` : "ɪn";
    case "the":
      if (word === "THE" && tag !== "DT") return undefined;
      return context.next === "vowel" ? "ði" : "ðə";
    case "used": {
      const isHabit = (tag === "VBD" || tag === "JJ") && context.isTo;
      return variantOf(entry("used"), isHabit ? "VBD" : "DEFAULT");
    }
    default:
      return undefined;
  }
}

/** Returns whether a word is the "to" before a verb or a noun. */
export const isTo = (word: string, tag: string): boolean =>
  word === "to" || word === "To" || (word === "TO" && (tag === "TO" || tag === "IN"));

const plain = (entry: Entry | undefined): string | undefined => variantOf(entry, "DEFAULT");

const variantOf = (entry: Entry | undefined, tag: string): string | undefined =>
  typeof entry === "object" ? entry.get(tag) : entry;
