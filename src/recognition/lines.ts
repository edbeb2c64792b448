// Groups words into lines of text.

import type { RecognizedLine, RecognizedWord } from "../domain/recognition.ts";
import { around } from "./boxes.ts";

/** Returns the lines of words in reading order. */
export function linesOf(words: readonly RecognizedWord[]): RecognizedLine[] {
  return [...Map.groupBy(words, ({ line }) => line).values()].map((line) => ({
    text: line.map(({ text }) => text).join(" "),
    confidence: line.reduce((sum, { confidence }) => sum + confidence, 0) / line.length,
    box: around(line.map(({ box }) => box)),
    block: line[0]?.block ?? 0,
    words: line.map(({ text, confidence, box }) => ({ text, confidence, box })),
  }));
}
