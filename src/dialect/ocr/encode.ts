// Encodes recognised pages as answers of /v1/ocr.

import type { OcrResponse } from "../../contract/ocr.ts";
import type { RecognizedPage, RecognizedTable } from "../../domain/recognition.ts";
import { pageMarkdown, tableMarkdown } from "../../text/page-markdown.ts";
import { tableHtml } from "../../text/table-html.ts";
import type { TableFormat } from "./decode.ts";

/** Points per inch in a PDF; the resolution of a picture is unknown. */
const POINTS_AN_INCH = 72;

const ENDINGS: Readonly<Record<TableFormat, string>> = { markdown: "md", html: "html" };

/**
 * Encodes pages, each only when it is written. `tableFormat`: format of tables beside the Markdown; absent: tables are
 * part of the Markdown.
 */
export function encodeOcr(
  pages: readonly RecognizedPage[],
  model: string,
  bytes: number,
  tableFormat?: TableFormat,
): Omit<OcrResponse, "pages"> & { readonly pages: Iterable<OcrResponse["pages"][number]> } {
  return {
    pages: pages.values().map((page) => ({
      index: page.number - 1,
      ...(tableFormat === undefined ? { markdown: pageMarkdown(page) } : withTables(page, tableFormat)),
      images: [],
      dimensions: { dpi: POINTS_AN_INCH, height: Math.round(page.height), width: Math.round(page.width) },
    })),
    model,
    document_annotation: null,
    usage_info: { pages_processed: pages.length, doc_size_bytes: bytes },
  };
}

function withTables(page: RecognizedPage, format: TableFormat) {
  const nameOf = (table: RecognizedTable) => `tbl-${page.tables.indexOf(table)}.${ENDINGS[format]}`;
  const write = format === "html" ? tableHtml : tableMarkdown;
  return {
    markdown: pageMarkdown(page, (table) => `[${nameOf(table)}](${nameOf(table)})`),
    tables: page.tables.map((table) => ({ id: nameOf(table), content: write(table), format })),
  };
}
