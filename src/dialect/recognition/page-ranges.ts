// Decodes ranges of a document's pages.

import { received } from "../../contract/schema.ts";
import { invalidValue } from "../../domain/errors.ts";
import type { PageRange } from "../../domain/recognition.ts";

const RANGE = /^(\d{1,6})(?:\s*(-)\s*(\d{1,6})?)?$/;

/**
 * Decodes ranges such as `1-3, 7` or `5-`. `from`: the number of the first page; `most`: ranges. Throws SvcError when the
 * text is not a list of pages.
 */
export function decodePages(
  text: string,
  { from, most }: { readonly from: 0 | 1; readonly most: number },
): PageRange[] {
  const refusal = () => {
    const rule = `be numbers of pages, from ${from}, and ranges of them, as 1-3,7 or 5-, at most ${most}`;
    return invalidValue("pages", rule, received(text));
  };
  const parts = text.split(",", most + 1);
  if (parts.length > most) throw refusal();
  return parts.map((part) => {
    const [, begin, dash, end = dash ? Infinity : begin] = RANGE.exec(part.trim()) ?? [];
    const [first, last] = [Number(begin), Number(end)];
    if (!(first >= from && last >= first)) throw refusal();
    return { first: first + 1 - from, ...(last !== Infinity && { last: last + 1 - from }) };
  });
}
