// Decodes requests of /v1/ocr.

import { OcrRequest } from "../../contract/ocr.ts";
import { checker } from "../../contract/schema.ts";
import { missing } from "../../domain/errors.ts";
import type { FileSource } from "../../domain/file-source.ts";
import type { PageRange } from "../../domain/recognition.ts";
import { always, notEmpty, refuseUnsupported } from "../fields/unsupported.ts";
import { decodePages } from "../recognition/page-ranges.ts";
import { refuseSeveral, urlSource } from "../recognition/sources.ts";

/** A file from an earlier upload. */
interface StoredSource {
  readonly kind: "stored";
  readonly id: string;
  readonly field: string;
}

export interface OcrCall {
  readonly model?: string;
  readonly source: FileSource | StoredSource;
  readonly languages: readonly string[];
  readonly pages?: readonly PageRange[];
  /** Format of tables that are separate from the Markdown. */
  readonly tableFormat?: TableFormat;
}

export type TableFormat = NonNullable<OcrRequest["table_format"]>;

const isTrue = (value: unknown): boolean => value === true;

/** Fields that would need a model that understands pictures or page layout. */
const UNSUPPORTED = {
  bbox_annotation_format: notEmpty,
  document_annotation_format: notEmpty,
  document_annotation_prompt: notEmpty,
  extract_header: isTrue,
  extract_footer: isTrue,
  include_blocks: isTrue,
  confidence_scores_granularity: always,
};
/** The same as the most pages in a list. */
const MOST_RANGES = 1000;
/** The URL that GET /v1/files/{id}/url returns, on any host. */
const CONTENT = /^https?:\/\/[^/?#]+(?:\/[^?#]*)?\/v1\/files\/(file-[0-9a-f]{1,64})\/content$/i;

const check = checker(OcrRequest);

/** Decodes a request. Throws SvcError naming the invalid field. */
export function decodeOcr(body: unknown): OcrCall {
  const { model, document, pages, languages, table_format } = check(body);
  refuseUnsupported(body, UNSUPPORTED);
  return {
    ...(model && { model }),
    source: sourceOf(document),
    languages: languages ?? [],
    ...(pages != null && {
      pages: typeof pages === "string" ? decodePages(pages, { from: 0, most: MOST_RANGES }) : pages.map(single),
    }),
    ...(table_format != null && { tableFormat: table_format }),
  };
}

function sourceOf({ document_url, image_url, file_id }: OcrRequest["document"]): OcrCall["source"] {
  refuseSeveral({ document_url, image_url, file_id }, "document.");
  if (file_id) return { kind: "stored", id: file_id, field: "document.file_id" };
  if (document_url) return addressed(document_url, "document.document_url");
  if (typeof image_url === "string") return addressed(image_url, "document.image_url");
  if (image_url) return addressed(image_url.url, "document.image_url.url");
  const param = "document.document_url";
  throw missing(param, "a data: URL");
}

function addressed(url: string, field: string): OcrCall["source"] {
  const id = CONTENT.exec(url.slice(0, 2048))?.[1];
  return id === undefined ? urlSource(url, field) : { kind: "stored", id, field };
}

/** Returns the range for a page number that counts from 0. */
const single = (index: number): PageRange => ({ first: index + 1, last: index + 1 });
