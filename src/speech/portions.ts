// Divides texts of any language into portions for voices that analyse sentences themselves.

import { cut } from "./sentences.ts";

/** Length of the first portion in UTF-16 units: short, since a listener waits for it. */
const FIRST = 60;
/** Length of the others: each starts a program, and related sentences sound better together. */
const MOST = 600;

/**
 * Combines whole sentences into portions of at most `most` UTF-16 units, or `first` for the first one; divides a
 * sentence that is too long where the cut is least audible.
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
