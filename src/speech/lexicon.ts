// Pronounces known words by their part of speech and what follows: two dictionaries, and rules for function words,
// endings, capitals and initials.

import { isLetters } from "./characters.ts";
import type { Dictionary } from "./dictionary.ts";
import { withEd, withIng, withS } from "./endings.ts";
import { functionWord, type Context } from "./function-words.ts";
import { applyStress, PRIMARY, SECONDARY, type Stress } from "./stress.ts";

const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ["%", "percent"],
  ["&", "and"],
  ["+", "plus"],
  ["@", "at"],
]);
/** Symbols inside an address. */
const ADDRESS_SYMBOLS: ReadonlyMap<string, string> = new Map([
  [".", "dot"],
  ["/", "slash"],
]);
/** Kinds of words in the dictionaries, by the beginnings of their tags. */
const KINDS: Readonly<Record<string, string>> = { VB: "VERB", NN: "NOUN", RB: "ADV", JJ: "ADJ" };
const SPELLABLE = /^[A-Za-z]+$/;
const DOUBLED_ING = /([bcdgklmnprstvxz])\1ing$|cking$/;

interface Ending {
  readonly suffix: string;
  /** Possible forms of the word without the ending, the likeliest first. */
  readonly stems: (word: string) => readonly (string | false)[];
  readonly sound: (stem: string) => string;
}

const ENDINGS: readonly Ending[] = [
  {
    suffix: "s",
    stems: (word) => [
      word.length > 2 && !word.endsWith("ss") && word.slice(0, -1),
      word.length > 2 &&
        (word.endsWith("'s") || (word.length > 4 && word.endsWith("es") && !word.endsWith("ies"))) &&
        word.slice(0, -2),
      word.length > 4 && word.endsWith("ies") && `${word.slice(0, -3)}y`,
    ],
    sound: withS,
  },
  {
    suffix: "d",
    stems: (word) => [
      word.length > 3 && !word.endsWith("dd") && word.slice(0, -1),
      word.length > 4 && word.endsWith("ed") && !word.endsWith("eed") && word.slice(0, -2),
    ],
    sound: withEd,
  },
  {
    suffix: "ing",
    stems: (word) => [
      word.length > 5 && word.slice(0, -3),
      word.length > 4 && `${word.slice(0, -3)}e`,
      word.length > 5 && DOUBLED_ING.test(word) && word.slice(0, -4),
    ],
    sound: withIng,
  },
];

export class Lexicon {
  /** `silver` is used only for words that `gold` lacks, and not for names in capitals. */
  constructor(
    private readonly gold: Dictionary,
    private readonly silver: Dictionary,
  ) {}

  /** Returns a word's phonemes; undefined when it is unknown. `stress`: the effect of capitals. */
  word(word: string, tag: string, stress: Stress | undefined, context: Context): string | undefined {
    const special = this.special(word, tag, stress, context);
    if (special !== undefined) return special;
    const base = this.isShouted(word, tag, stress, context) ? word.toLowerCase() : word;
    const forms = [base, base.endsWith("s'") && `${base.slice(0, -2)}'s`, base.endsWith("'") && base.slice(0, -1)];
    const known = forms.find((form) => form && this.isKnown(form));
    if (known) return this.lookup(known, tag, stress, context);
    for (const ending of ENDINGS) {
      const own = ending.suffix === "ing" ? (stress ?? 0.5) : stress;
      const phonemes = this.withEnding(ending, base, tag, own, context);
      if (phonemes !== undefined) return phonemes;
    }
    return undefined;
  }

  /** Looks up a word without rules for endings. Without `context`, the word is not at the end of a phrase. */
  lookup(word: string, tag?: string, stress?: Stress, context?: Context): string | undefined {
    const isShouted = word === word.toUpperCase() && !this.gold.has(word);
    const base = isShouted ? word.toLowerCase() : word;
    const isName = isShouted && tag === "NNP";
    const entry = this.gold.get(base) ?? (isName ? undefined : this.silver.get(base));
    const phonemes = typeof entry === "object" ? variant(entry, tag, context) : entry;
    if (phonemes === undefined || (isName && !phonemes.includes(PRIMARY))) {
      const spelled = this.spelled(base);
      if (spelled !== undefined) return spelled;
    }
    return phonemes === undefined ? undefined : applyStress(phonemes, stress);
  }

  /** Returns the phonemes of the plural with s. */
  plural(word: string): string | undefined {
    const phonemes = this.lookup(word);
    return phonemes ? withS(phonemes) : undefined;
  }

  private special(word: string, tag: string, stress: Stress | undefined, context: Context): string | undefined {
    const address = tag === "ADD" ? ADDRESS_SYMBOLS.get(word) : undefined;
    if (address !== undefined) return this.lookup(address, undefined, -0.5, context);
    const symbol = SYMBOLS.get(word);
    if (symbol !== undefined) return this.lookup(symbol, undefined, undefined, context);
    if (isInitials(word)) return this.spelled(word);
    if (tag.startsWith("NN") && ["am", "Am", "AM", "AN"].includes(word)) return this.spelled(word);
    if (tag === "IN" && /^vs\.?$/i.test(word)) return this.lookup("versus", undefined, undefined, context);
    return functionWord(word, tag, stress, context, (base) => this.gold.get(base));
  }

  /** Spells a word letter by letter, the last one stressed; undefined when a character has no name. */
  private spelled(word: string): string | undefined {
    let phonemes = "";
    for (const letter of Array.from(word).filter(isLetters)) {
      const name = this.gold.get(letter.toUpperCase());
      if (typeof name !== "string") return undefined;
      phonemes += name;
    }
    const marked = applyStress(phonemes, 0);
    const last = marked.lastIndexOf(SECONDARY);
    return last < 0 ? marked : marked.slice(0, last) + PRIMARY + marked.slice(last + 1);
  }

  /** Returns whether a word with capitals is known in lower case. */
  private isShouted(word: string, tag: string, stress: Stress | undefined, context: Context): boolean {
    const small = word.toLowerCase();
    if (word.length < 2 || word === small || !isLetters(word.replaceAll("'", ""))) return false;
    if (tag === "NNP" && Array.from(word).length <= 7) return false;
    if (this.gold.has(word) || this.silver.has(word)) return false;
    if (word !== word.toUpperCase() && word.slice(1) !== word.slice(1).toLowerCase()) return false;
    if (this.gold.has(small) || this.silver.has(small)) return true;
    return ENDINGS.some((ending) => this.withEnding(ending, small, tag, stress, context));
  }

  private isKnown(word: string): boolean {
    if (this.gold.has(word) || SYMBOLS.has(word) || this.silver.has(word)) return true;
    if (!SPELLABLE.test(word)) return false;
    if (word.length === 1) return true;
    return (
      (word === word.toUpperCase() && this.gold.has(word.toLowerCase())) ||
      word.slice(1) === word.slice(1).toUpperCase()
    );
  }

  private withEnding(
    { suffix, stems, sound }: Ending,
    word: string,
    tag: string,
    stress: Stress | undefined,
    context: Context,
  ): string | undefined {
    if (!word.endsWith(suffix)) return undefined;
    const stem = stems(word).find((candidate) => candidate !== false && this.isKnown(candidate));
    const phonemes = stem ? this.lookup(stem, tag, stress, context) : undefined;
    return phonemes ? sound(phonemes) : undefined;
  }
}

function variant(entry: ReadonlyMap<string, string | undefined>, tag = "", context?: Context) {
  if (context !== undefined && context.next === undefined && entry.has("None")) return entry.get("None");
  if (entry.has(tag)) return entry.get(tag);
  const kind = KINDS[tag.slice(0, 2)];
  return entry.get(kind !== undefined && entry.has(kind) ? kind : "DEFAULT");
}

/** Matches "U.S.", "a.m.": one or two letters between dots. */
function isInitials(word: string): boolean {
  const inner = word.replace(/^\.+|\.+$/g, "");
  if (!inner.includes(".") || !isLetters(word.replaceAll(".", ""))) return false;
  return word.split(".").every((part) => Array.from(part).length < 3);
}
