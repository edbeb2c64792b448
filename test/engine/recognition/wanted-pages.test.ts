import { expect, test } from "bun:test";
import type { PageRange } from "../../../src/domain/recognition.ts";
import { wantedPages } from "../../../src/engine/recognition/child/wanted-pages.ts";

test("the requested pages are read in order, each once, or all of them", () => {
  const pages = [{ first: 3 }, { first: 1, last: 1 }, { first: 1, last: 2 }];
  expect(wantedPages({ pages, maxPages: 9 }, {}, 4)).toEqual([1, 2, 3, 4]);
  expect(wantedPages({ pages: pages.slice(1), maxPages: 9 }, {}, 4)).toEqual([1, 2]);
  expect(wantedPages({ maxPages: 9 }, {}, 2)).toEqual([1, 2]);
});

test("missing pages are named with the client's numbering", () => {
  const eighth = [{ first: 8, last: 8 }];
  const message = (count: number, file: { countsFromZero?: true }, pages: PageRange[]) => {
    try {
      return wantedPages({ pages, maxPages: 9 }, file, count).length;
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(message(2, {}, eighth)).toBe("'pages' must name pages of the document, which has 1 to 2; got 8.");
  expect(message(2, { countsFromZero: true }, eighth)).toBe(
    "'pages' must name pages of the document, which has 0 to 1; got 7.",
  );
  expect(message(1, { countsFromZero: true }, eighth)).toBe(
    "'pages' must name pages of the document, which has only 0; got 7.",
  );
  const all = [{ first: 1 }];
  expect(message(10, {}, all)).toBe("'max_pages' is 9; got a document of 10 pages. 'pages' selects some of them.");
  expect(message(10, { countsFromZero: true }, all)).toBe("'pages' must select at most 9 pages; got 10.");
});
