// Joins the pieces of text in languages that are written without spaces.

import type { RecognizedWord } from "../domain/recognition.ts";
import { around } from "./boxes.ts";

/** Chinese and Japanese, with their punctuation and full-width forms. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\u30fb\u30fc\uff01-\uff9f]`;
const END = new RegExp(`${UNSPACED}$`, "u");
const BEGINNING = new RegExp(`^${UNSPACED}`, "u");
/** In heights of a character: punctuation marks leave part of their cell empty; a space is as wide as a character. */
const WIDEST_GAP = 0.75;

/** Joins words of one line without a space between them; keeps the order. */
export function joinUnspaced(words: readonly RecognizedWord[]): RecognizedWord[] {
  const joined: RecognizedWord[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last && continues(last, word)) joined[joined.length - 1] = together(last, word);
    else joined.push(word);
  }
  return joined;
}

function continues(left: RecognizedWord, right: RecognizedWord): boolean {
  if (left.line !== right.line || !END.test(left.text) || !BEGINNING.test(right.text)) return false;
  const gap = right.box.x - left.box.x - left.box.width;
  return gap <= WIDEST_GAP * Math.max(left.box.height, right.box.height);
}

function together(left: RecognizedWord, right: RecognizedWord): RecognizedWord {
  const [before, after] = [left.text.length, right.text.length];
  return {
    ...left,
    text: left.text + right.text,
    confidence: (left.confidence * before + right.confidence * after) / (before + after),
    box: around([left.box, right.box]),
  };
}
