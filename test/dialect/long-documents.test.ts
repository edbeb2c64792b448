// Answers about documents of many pages: pages are encoded as the client reads them, not all at once.

import { expect, test } from "bun:test";
import { encodeOcr } from "../../src/dialect/ocr/encode.ts";
import { encodeDocuments } from "../../src/dialect/recognition/encode.ts";
import { jsonParts } from "../../src/domain/json-parts.ts";
import type { RecognizedPage } from "../../src/domain/recognition.ts";

const box = { x: 0, y: 0, width: 1, height: 1 };
const word = { text: "word ".repeat(4000), confidence: 1, box };
const line = { ...word, block: 0, words: [word] };

function pagesOf(count: number) {
  const encoded = new Set<number>();
  const pages = Array.from({ length: count }, (_, at): RecognizedPage => {
    const page = {
      number: at + 1,
      height: 100,
      source: "text" as const,
      lines: [line],
      tables: [],
      barcodes: [],
      notes: [],
    };
    return {
      ...page,
      get width() {
        encoded.add(at);
        return 100;
      },
    };
  });
  return { pages, encoded };
}

test.each([
  ["/v1/ocr", (pages: readonly RecognizedPage[]) => encodeOcr(pages, "m", 1)],
  [
    "/v1/vision/ocr",
    (pages: readonly RecognizedPage[]) =>
      encodeDocuments([{ name: "a.pdf", type: "upload", pageCount: pages.length, pages }], "text", {
        origin: "top-left",
        words: true,
        debug: false,
      }).documents[0] ?? {},
  ],
])("%s", (_, encode) => {
  const { pages, encoded } = pagesOf(50);
  const parts = jsonParts(encode(pages));
  expect(encoded.size).toBe(0);
  while (encoded.size < 2) parts.next();
  expect(encoded.size).toBe(2);
  expect(JSON.parse([...jsonParts(encode(pages))].join("")).pages).toHaveLength(50);
});
