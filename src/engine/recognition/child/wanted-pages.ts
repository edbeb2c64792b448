// Decides which pages of a document are read.

import { fieldError, invalidValue } from "../../../domain/errors.ts";
import { numberFor, type DocumentFile, type OpeningJob } from "../protocol.ts";

/** Returns the page numbers in ascending order, each once. Throws SvcError about missing pages, and about too many. */
export function wantedPages(
  { pages = [{ first: 1 }], maxPages }: OpeningJob["wanted"],
  document: Pick<DocumentFile, "countsFromZero">,
  count: number,
): readonly [number, ...number[]] {
  const beyond = pages.map(({ first, last = first }) => Math.max(first, last)).find((number) => number > count);
  if (beyond !== undefined) {
    const first = numberFor(document, 1);
    const there = count === 1 ? `only ${first}` : `${first} to ${numberFor(document, count)}`;
    throw invalidValue("pages", `name pages of the document, which has ${there}`, numberFor(document, beyond));
  }
  const isWanted = (number: number) => pages.some(({ first, last = count }) => first <= number && number <= last);
  const wanted = Array.from({ length: count }, (_, at) => at + 1).filter(isWanted);
  // Each range has at least one page of the document.
  if (wanted.length <= maxPages) return wanted as [number, ...number[]];
  if (document.countsFromZero) throw invalidValue("pages", `select at most ${maxPages} pages`, wanted.length);
  const sentence = `is ${maxPages}; got a document of ${wanted.length} pages. 'pages' selects some of them`;
  throw fieldError("unprocessable_media", "max_pages", sentence);
}
