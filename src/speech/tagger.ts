// Finds each word's part of speech (Penn Treebank tags): from a table for words that nearly always have the same one,
// else with an averaged perceptron, which adds up weights of features around the word.

import { isDigits, isLetters, isLower, isUpper } from "./characters.ts";
import type { SortedLines } from "./sorted-lines.ts";

const START = ["-START2-", "-START-"] as const;
const END = ["-END-", "-END2-"] as const;

interface TaggerData {
  /** In alphabetical order. */
  readonly tags: readonly string[];
  readonly tagOfWord: SortedLines;
  readonly knownWords: SortedLines;
  /** Feature → pairs of a tag's number and its weight, separated by spaces. */
  readonly weights: SortedLines;
}

export class Tagger {
  constructor(private readonly data: TaggerData) {}

  /** Returns the tag of each word of a sentence. */
  tag(words: readonly string[]): string[] {
    const context = [...START, ...words.map((word) => this.known(word)), ...END];
    const tags: string[] = [...START];
    for (const [at, word] of words.entries()) {
      const [before = "", previous = ""] = tags.slice(-2);
      tags.push(this.data.tagOfWord.get(word) ?? this.likeliest(features(at, word, context, previous, before)));
    }
    return tags.slice(START.length);
  }

  /** Returns the word as features name it; words unknown to the tagger are reduced to their shape. */
  private known(word: string): string {
    const name = nameOf(word);
    return this.data.knownWords.has(name) ? name : `<${shapeOf(word)}>`;
  }

  private likeliest(names: readonly string[]): string {
    const { tags, weights } = this.data;
    const scores = new Float64Array(tags.length);
    for (const name of names) {
      const fields = weights.get(name)?.split(" ") ?? [];
      for (let at = 0; at < fields.length; at += 2) {
        const tag = Number(fields[at]);
        scores[tag] = (scores[tag] ?? 0) + Number(fields[at + 1]);
      }
    }
    // Of equal scores, the last tag in the alphabet wins.
    const best = scores.reduce((leader, score, at) => (score >= (scores[leader] ?? 0) ? at : leader), 0);
    return tags[best] ?? "";
  }
}

function features(at: number, word: string, context: readonly string[], previous: string, before: string): string[] {
  const around = (distance: number): string => context[at + 2 + distance] ?? "";
  const [first = ""] = word;
  return [
    "b",
    `s3=${ending(word)}`,
    `p1=${first}`,
    `w=${around(0)}`,
    `sh=${shapeOf(word)}`,
    at === 0 ? "i0" : "i+",
    `t-1=${previous}`,
    `t-2=${before}`,
    `t-12=${previous},${before}`,
    `w-1=${around(-1)}`,
    `s3-1=${ending(around(-1))}`,
    `w-2=${around(-2)}`,
    `w+1=${around(1)}`,
    `s3+1=${ending(around(1))}`,
    `w+2=${around(2)}`,
  ];
}

const ending = (word: string): string => Array.from(word).slice(-3).join("");

function nameOf(word: string): string {
  const [first = ""] = word;
  if (word.includes("-") && first !== "-") return "!HYPHEN";
  if (isDigits(word) && Array.from(word).length === 4) return "!YEAR";
  return isDigits(first) ? "!DIGITS" : word.toLowerCase();
}

function shapeOf(word: string): string {
  const characters = Array.from(word);
  if (isLetters(word)) {
    if (isLower(word)) return "x";
    if (isUpper(word)) return characters.length > 1 ? "XX" : "X1";
    return isUpper(characters[0] ?? "") && isLower(characters.slice(1).join("")) ? "Xx" : "xX";
  }
  if (isDigits(word)) return "d";
  const shape = (character: string): string => (isDigits(character) ? "d" : isLetters(character) ? "x" : character);
  return characters.slice(0, 4).map(shape).join("");
}
