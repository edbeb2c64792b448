// Converts text to phonemes of the acoustic model, after hibari and misaki. Words, with their parts of speech, are
// processed from the end of the sentence to its beginning, since the sound of a word can depend on what follows.

import { asciiDigits, isDigits, isLetters } from "./characters.ts";
import { weaken } from "./compounds.ts";
import { Dictionary } from "./dictionary.ts";
import { isTo, type Context } from "./function-words.ts";
import { Lexicon } from "./lexicon.ts";
import { Normalizer } from "./normalize.ts";
import { splitSentences } from "./sentences.ts";
import { SortedLines } from "./sorted-lines.ts";
import { isNumber, SpokenNumbers } from "./spoken-numbers.ts";
import { beginning } from "./stress.ts";
import { isJunk, splitWords } from "./subtokens.ts";
import type { Tables } from "./tables.ts";
import { Tagger } from "./tagger.ts";
import { joined, merge, type Token } from "./token.ts";
import { Tokenizer } from "./tokenizer.ts";
import { UnknownWords, type Guess } from "./unknown-words.ts";

/** Maximum number of pieces of a word to look up as one, which keeps the work linear. */
const LONGEST_COMPOUND = 12;
/** Pieces of text that no dictionary has: letters, digits, and signs. */
const UNKNOWN = /[\p{L}\p{Nl}\p{No}]+(?:['’][\p{L}\p{Nl}\p{No}]+)*|\p{Nd}+(?:[,.]\p{Nd}+)*|[^\p{L}\p{N}_\s]+/gu;
const SIGNS: Readonly<Record<string, string>> = {
  "/": "slˈæʃ",
  "=": "ˈikwᵊlz",
  "+": "plˈʌs",
  "&": "ænd",
  "@": "æt",
  "%": "pəɹsˈɛnt",
  "#": "hˈæʃ",
  "*": "ˈæstəɹˌɪsk",
  "~": "tˈɪldə",
  "^": "kˈɛɹət",
  "<": "lˈɛs ðən",
  ">": "ɡɹˈATəɹ ðən",
  "—": "—",
};

export class Phonemizer {
  private readonly titles: ReadonlySet<string>;
  private readonly idOf: ReadonlyMap<string, number>;
  private readonly normalizer: Normalizer;
  private readonly tokenizer: Tokenizer;
  private readonly tagger: Tagger;
  private readonly lexicon: Lexicon;
  private readonly numbers: SpokenNumbers;
  private readonly unknown: UnknownWords;

  /**
   * `read` returns a file of the voice, as vendor/hibari.ts creates them, and throws when it is missing. `guess`
   * computes the net for unknown words. Throws when the files are inconsistent.
   */
  constructor(read: (name: string) => Uint8Array, guess: Guess) {
    const tables = JSON.parse(new TextDecoder().decode(read("tables.json"))) as Tables;
    const lines = (name: string) => new SortedLines(read(name));
    this.titles = new Set(Object.keys(tables.normalize.titles));
    this.idOf = new Map(Object.entries(tables.phonemes));
    this.normalizer = new Normalizer(tables.normalize);
    this.tokenizer = new Tokenizer(tables.tokens);
    this.tagger = new Tagger({
      tags: tables.tags,
      tagOfWord: lines("tag-of-word.txt"),
      knownWords: lines("known-words.txt"),
      weights: lines("tag-weights.txt"),
    });
    this.lexicon = new Lexicon(new Dictionary(lines("gold.txt")), new Dictionary(lines("silver.txt")));
    this.numbers = new SpokenNumbers(this.lexicon);
    this.unknown = new UnknownWords(tables.unknownWords, guess);
  }

  /** Returns a text's sentences of at most 400 UTF-16 units, to be spoken one after another. */
  sentences(text: string): string[] {
    return splitSentences(text.toWellFormed(), this.titles);
  }

  /** Returns a sentence's phonemes; empty when there is nothing to speak. All of `text` is plain text. */
  async phonemes(text: string): Promise<string> {
    const pieces = this.tokenizer.split(this.normalizer.normalize(text.toWellFormed()));
    const tags = this.tagger.tag(quiet(pieces.map(([piece]) => piece)));
    const tokens = pieces.map(([piece, spaceAfter], at): Token => {
      return { text: piece, tag: tags[at] ?? "", spaceAfter, isHead: true, spaceBefore: false };
    });
    const words = splitWords(tokens);
    let context: Context = { next: undefined, isTo: false };
    for (const word of words.toReversed()) context = await this.read(word, context);
    const spoken = words.map((word) => {
      const phonemes = joined(word).replaceAll("ɾ", "T").replaceAll("ʔ", "t");
      return phonemes + (word.at(-1)?.spaceAfter ? " " : "");
    });
    const all = spoken.join("").trim();
    // The dot of an abbreviation at the end is the sentence's, too: "at 5 p.m."
    return /\.\s*$/.test(text) && /[^;:,.!?—…"“”()]$/u.test(all) ? `${all}.` : all;
  }

  /** Returns the acoustic model's numbers of the phonemes, with padding; omits characters that it does not have. */
  ids(phonemes: string): number[] {
    return [0, ...Array.from(phonemes).flatMap((phoneme) => this.idOf.get(phoneme) ?? []), 0];
  }

  /** Sets the phonemes of a word's pieces; returns the context for the preceding word. */
  private async read(word: readonly Token[], context: Context): Promise<Context> {
    const [only] = word;
    if (only !== undefined && word.length === 1) {
      only.phonemes ??= this.known(only, context) ?? (await this.guess(only.text));
      return follow(context, only);
    }
    let next = context;
    for (let end = word.length; end > 0;) {
      const found = this.longestKnown(word.slice(Math.max(0, end - LONGEST_COMPOUND), end), next);
      if (found !== undefined) {
        const start = end - found.length;
        for (const [at, piece] of word.slice(start, end).entries()) piece.phonemes = at === 0 ? found.phonemes : "";
        next = follow(next, { ...found.token, phonemes: found.phonemes });
        end = start;
        continue;
      }
      end -= 1;
      const piece = word[end];
      if (piece === undefined) break;
      if (!isJunk(piece.text)) {
        // A number beside it stays one: "$2,000-Xyzzy".
        const start = word.slice(0, end).findLastIndex(hasDigit) + 1;
        const after = word.slice(end).findIndex(hasDigit);
        const unknown = word.slice(start, after < 0 ? undefined : end + after);
        const guess = await this.guess(merge(unknown).text);
        for (const [at, other] of unknown.entries()) other.phonemes = at === 0 ? guess : "";
        if (unknown.length === word.length) return next;
        next = follow(next, { ...piece, phonemes: guess });
        end = start;
        continue;
      }
      piece.phonemes = "";
    }
    weaken(word);
    return next;
  }

  /** Finds the most pieces at the end that are known as one word. */
  private longestKnown(pieces: readonly Token[], context: Context) {
    for (let start = 0; start < pieces.length; start += 1) {
      const token = merge(pieces.slice(start));
      const phonemes = this.known(token, context);
      if (phonemes !== undefined) return { token, phonemes, length: pieces.length - start };
    }
    return undefined;
  }

  /** Returns the phonemes of a word in the lexicon, or of a number. */
  private known(token: Token, context: Context): string | undefined {
    const word = asciiDigits((token.alias ?? token.text).replaceAll(/[‘’]/g, "'").normalize("NFKC"));
    const stress = word === word.toLowerCase() ? undefined : word === word.toUpperCase() ? 2 : 0.5;
    const phonemes = this.lexicon.word(word, token.tag, stress, context);
    if (phonemes !== undefined) return this.numbers.withCurrency(phonemes, token.currency);
    if (!isNumber(word, token.isHead)) return undefined;
    return this.numbers.phonemes(word, token.currency, token.isHead);
  }

  /** Returns phonemes for any text: letters with the neural network, other characters as far as known. */
  private async guess(text: string): Promise<string> {
    const pieces: string[] = [];
    for (const piece of text.match(UNKNOWN) ?? []) pieces.push((await this.guessPiece(piece)) ?? "");
    return pieces.filter((phonemes) => phonemes !== "").join(" ");
  }

  private async guessPiece(piece: string): Promise<string | undefined> {
    const [first = ""] = piece;
    if (isDigits(first)) return this.numbers.phonemes(asciiDigits(piece.normalize("NFKC")), undefined, false);
    if (isLetters(first)) return this.unknown.phonemes(piece);
    return Array.from(piece, (sign) => SIGNS[sign] ?? "").join("");
  }
}

const hasDigit = ({ text }: Token): boolean => /\p{Nd}/u.test(text);

/** Lowers a sentence of capitals for the tagger, which would take its words for names, to be spelled. */
function quiet(words: readonly string[]): readonly string[] {
  const isShouted = words.filter((word) => /\p{Lu}{2}/u.test(word)).length > 1 && !/\p{Ll}/u.test(words.join(""));
  return isShouted ? words.map((word) => (word.length > 1 ? word.toLowerCase() : word)) : words;
}

/** Returns the context for the word before `token`; a token without sound does not count as the next word. */
function follow(context: Context, { text, tag, phonemes = "" }: Token): Context {
  const start = beginning(phonemes);
  const next = start === undefined ? context.next : start === "pause" ? undefined : start;
  return { next, isTo: isTo(text, tag) };
}
