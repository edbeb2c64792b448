// Texts of any language in portions that are said one after another, for voices that read sentences themselves.

import { cut } from "./sentences.ts";

/** The first is short, as somebody waits for it. UTF-16 units. */
const FIRST = 60;
/** Of all others: a program is started for each, and says better what belongs together. */
const MOST = 600;

/**
 * Whole sentences, as many as go into a portion of at most `most` UTF-16 units, or `first` for the first; a sentence that is too
 * long is cut where one hears it least.
 */
export function portions(text: string, { first = FIRST, most = MOST } = {}): string[] {
  const sentences = new Intl.Segmenter("en", { granularity: "sentence" }).segment(text.toWellFormed());
  const portions: string[] = [];
  let portion = "";
  for (const { segment } of sentences) {
    const room = portions.length === 0 ? first : most;
    if (portion.trim() !== "" && portion.length + segment.length > room) {
      portions.push(portion);
      portion = "";
    }
    portion += segment;
  }
  return [...portions, portion].flatMap((one) => cut(one.trim(), most)).filter((one) => one !== "");
}
