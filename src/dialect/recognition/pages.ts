// Which pages of a document: `1-3,7,12-`.

import { received } from "../../contract/schema.ts";
import { invalidValue, SvcError } from "../../domain/errors.ts";
import type { PageRange } from "../../domain/recognition.ts";

const MOST_RANGES = 100;
const RANGE = /^(\d{1,6})(?:(-)(\d{1,6})?)?$/;

/** Throws SvcError about a text that is no list of pages. */
export function decodePages(text: string): PageRange[] {
  const parts = text.split(",").map((part) => part.replaceAll(/\s/g, ""));
  if (parts.length > MOST_RANGES) throw refusal(text);
  return parts.map((part) => {
    const [, first, dash, last] = RANGE.exec(part) ?? [];
    if (first === undefined || Number(first) < 1) throw refusal(text);
    if (dash === undefined) return { first: Number(first), last: Number(first) };
    if (last === undefined) return { first: Number(first) };
    if (Number(last) < Number(first)) throw refusal(text);
    return { first: Number(first), last: Number(last) };
  });
}

function refusal(text: string): SvcError {
  return invalidValue(
    "pages",
    `be numbers of pages, from 1, and ranges of them, as 1-3,7 or 5-, at most ${MOST_RANGES}`,
    received(text),
  );
}
