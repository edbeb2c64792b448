// Guesses the type of a document.

import type { RecognizedPage } from "../../domain/recognition.ts";

/** Words that are typical of document types, in the languages of most recognition data. */
const WORDS: readonly (readonly [hint: string, words: RegExp])[] = [
  ["invoice", /\b(invoice|bill to|payment due|amount due|rechnung(snummer)?|facture)\b/i],
  ["receipt", /\b(receipt|subtotal|total tax|quittung|kassenbon|re[cç]u)\b/i],
  ["form", /\b(signature|date of birth|please (fill|print)|unterschrift|geburtsdatum)\b/i],
];

/** Returns at least one hint: `document` when no other applies. */
export function hintsOf(pages: readonly RecognizedPage[], text: string): string[] {
  const hints = [
    ...(pages.length > 1 ? ["multi_page"] : []),
    ...(pages.some(({ tables }) => tables.length > 0) ? ["table_like"] : []),
    ...WORDS.flatMap(([hint, words]) => (words.test(text) ? [hint] : [])),
  ];
  return hints.length > 0 ? hints : ["document"];
}
