// What was recognised, as answers of /v1/ocr.

import type { OcrResponse } from "../../contract/ocr.ts";
import type { RecognizedPage } from "../../domain/recognition.ts";
import { pageMarkdown } from "../../text/page-markdown.ts";

/** Points of a PDF; what a picture has is not known. */
const POINTS_AN_INCH = 72;

export function encodeOcr(pages: readonly RecognizedPage[], model: string, bytes: number): OcrResponse {
  return {
    pages: pages.map((page) => ({
      index: page.number - 1,
      markdown: pageMarkdown(page),
      images: [],
      dimensions: { dpi: POINTS_AN_INCH, height: Math.round(page.height), width: Math.round(page.width) },
    })),
    model,
    document_annotation: null,
    usage_info: { pages_processed: pages.length, doc_size_bytes: bytes },
  };
}
