// Divides long texts into parts to speak at once.

import { isLower, isUpper, SPACE } from "./characters.ts";

/**
 * Longest sentence in UTF-16 units; longer ones are divided at the best place. Words that no dictionary has take half a
 * millisecond per letter, and the processing of a sentence cannot be interrupted.
 */
const LONGEST_SENTENCE = 400;
const END = new RegExp(String.raw`(?<=[.!?…।])["”’)\]]*[${SPACE}]+(?=[^${SPACE}])`, "gu");
const CLAUSE = /[,;:—] /g;
const WORD_BEFORE_DOT = /(?:^| )["“'‘(]*([^ ]{1,8})$/u;

/** Splits a text at line breaks and sentence ends, into pieces of at most 400 UTF-16 units. */
export function splitSentences(text: string, titles: ReadonlySet<string>): string[] {
  return text
    .split("\n")
    .flatMap((line) => sentencesOf(line.trim(), titles))
    .flatMap((sentence) => cut(sentence, LONGEST_SENTENCE))
    .filter((sentence) => sentence.trim() !== "");
}

function sentencesOf(line: string, titles: ReadonlySet<string>): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { 0: gap, index } of line.matchAll(END)) {
    if (!endsSentence(line, index, line.slice(index + gap.length, index + gap.length + 2), titles)) continue;
    sentences.push(line.slice(start, index));
    start = index + gap.length;
  }
  return [...sentences, line.slice(start)];
}

/** Returns false after a title or initial ("Dr. Smith", "J. K. Rowling") and before a lower-case letter. */
function endsSentence(line: string, end: number, next: string, titles: ReadonlySet<string>): boolean {
  if (isLower(Array.from(next)[0] ?? "")) return false;
  if (line[end - 1] !== ".") return true;
  const word = WORD_BEFORE_DOT.exec(line.slice(Math.max(0, end - 16), end - 1))?.[1] ?? "";
  return !titles.has(word) && !(Array.from(word).length === 1 && isUpper(word));
}

/** Divides text into the longest pieces of at most `most` UTF-16 units: after a mark, else a space, else anywhere. */
export function cut(text: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const head = rest.slice(0, most + 1);
    const end = Array.from(head.matchAll(CLAUSE)).at(-1)?.index;
    const at = end === undefined ? head.lastIndexOf(" ") : end + 1;
    const splitsPair = /[\ud800-\udbff]/.test(head.charAt(most - 1));
    const length = at > 0 ? at : splitsPair ? most - 1 : most;
    pieces.push(rest.slice(0, length).trim());
    rest = rest.slice(length).trim();
  }
  return [...pieces, rest];
}
