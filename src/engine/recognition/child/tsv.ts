// Parses Tesseract's output: a row for each word, with its place on the page, its paragraph and its line.

import type { RecognizedWord } from "../../../domain/recognition.ts";
import { joinUnspaced } from "../../../recognition/unspaced.ts";

/** Level of rows that are words, not pages, blocks, paragraphs or lines. */
const WORD = "5";

/** Returns words in their order. A paragraph becomes a block here: Tesseract's own blocks are whole columns. */
export function wordsOf(tsv: string): RecognizedWord[] {
  const words: RecognizedWord[] = [];
  let [line, block, lineKey, blockKey] = [-1, -1, "", ""];
  for (const row of tsv.split("\n")) {
    const [level, page, column, paragraph, lineNumber, , x, y, width, height, confidence, text = ""] = row.split("\t");
    if (level !== WORD || text.trim() === "") continue;
    const inBlock = [page, column, paragraph].join();
    const inLine = [inBlock, lineNumber].join();
    if (inBlock !== blockKey) block++;
    if (inLine !== lineKey) line++;
    [blockKey, lineKey] = [inBlock, inLine];
    words.push({
      text: text.trim(),
      confidence: Math.min(1, Math.max(0, Number(confidence) / 100)),
      box: { x: Number(x), y: Number(y), width: Number(width), height: Number(height) },
      line,
      block,
    });
  }
  return joinUnspaced(words);
}
