// Lines of text, out of the words that stand in them.

import type { RecognizedLine } from "../domain/recognition.ts";
import type { Box, RecognizedWord } from "./bitmap.ts";

/** The lines of words that are in reading order. */
export function linesOf(words: readonly RecognizedWord[]): RecognizedLine[] {
  const lines = new Map<number, RecognizedWord[]>();
  for (const word of words) {
    const line = lines.get(word.line);
    if (line) line.push(word);
    else lines.set(word.line, [word]);
  }
  return [...lines.values()].map((line) => ({
    text: line.map(({ text }) => text).join(" "),
    confidence: line.reduce((sum, { confidence }) => sum + confidence, 0) / line.length,
    box: around(line.map(({ box }) => box)),
    block: line[0]?.block ?? 0,
  }));
}

/** The smallest rectangle around some. */
export function around(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}
