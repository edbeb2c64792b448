// Decides which pages of a document are read.

import { fieldError, invalidValue } from "../../../domain/errors.ts";
import type { OpeningJob } from "../protocol.ts";

/** Returns the page numbers in ascending order, each once. Throws SvcError about missing pages, and about too many. */
export function wantedPages(
  { pages = [{ first: 1 }], countsFromZero, maxPages }: OpeningJob["wanted"],
  count: number,
): readonly [number, ...number[]] {
  const beyond = pages.map(({ first, last = first }) => Math.max(first, last)).find((number) => number > count);
  if (beyond !== undefined) {
    const before = countsFromZero ? 1 : 0;
    const there = count === 1 ? `only ${1 - before}` : `${1 - before} to ${count - before}`;
    throw invalidValue("pages", `name pages of the document, which has ${there}`, beyond - before);
  }
  const isWanted = (number: number) => pages.some(({ first, last = count }) => first <= number && number <= last);
  const wanted = Array.from({ length: count }, (_, at) => at + 1).filter(isWanted);
  // Each range has at least one page of the document.
  if (wanted.length <= maxPages) return wanted as [number, ...number[]];
  if (countsFromZero) throw invalidValue("pages", `select at most ${maxPages} pages`, wanted.length);
  const sentence = `is ${maxPages}; got a document of ${wanted.length} pages. 'pages' selects some of them`;
  throw fieldError("unprocessable_media", "max_pages", sentence);
}
