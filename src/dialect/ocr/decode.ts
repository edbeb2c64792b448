// Requests of /v1/ocr.

import { OcrRequest } from "../../contract/ocr.ts";
import { checker, received } from "../../contract/schema.ts";
import { fieldError, invalidValue, missing } from "../../domain/errors.ts";
import type { DocumentSource, PageRange } from "../../domain/recognition.ts";
import { always, notEmpty, refuseUnsupported } from "../fields/unsupported.ts";
import { urlSource } from "../recognition/sources.ts";

/** A file that was uploaded before. */
interface StoredSource {
  readonly kind: "stored";
  readonly id: string;
  readonly field: string;
}

export interface OcrCall {
  readonly model?: string;
  readonly source: DocumentSource | StoredSource;
  readonly languages: readonly string[];
  readonly pages?: readonly PageRange[];
  /** What tables that are not in the Markdown are written in. */
  readonly tableFormat?: TableFormat;
}

export type TableFormat = NonNullable<OcrRequest["table_format"]>;

const isTrue = (value: unknown): boolean => value === true;

/** What needs a model that understands pictures, or the parts of a page. */
const UNSUPPORTED = {
  bbox_annotation_format: notEmpty,
  document_annotation_format: notEmpty,
  document_annotation_prompt: notEmpty,
  extract_header: isTrue,
  extract_footer: isTrue,
  include_blocks: isTrue,
  confidence_scores_granularity: always,
};
const RANGE = /^(\d{1,6})(?:-(\d{1,6}))?$/;
/** As many as a list may name pages. */
const MOST_RANGES = 1000;
/** What GET /v1/files/{id}/url says, whatever the host calls itself. */
const CONTENT = /^https?:\/\/[^/?#]+(?:\/[^?#]*)?\/v1\/files\/(file-[0-9a-f]{1,64})\/content$/i;

const check = checker(OcrRequest);

/** Throws SvcError naming the field at fault. */
export function decodeOcr(body: unknown): OcrCall {
  const { model, document, pages, languages, table_format } = check(body);
  refuseUnsupported(body, UNSUPPORTED);
  return {
    ...(model && { model }),
    source: sourceOf(document),
    languages: languages ?? [],
    ...(pages != null && { pages: typeof pages === "string" ? rangesOf(pages) : pages.map(single) }),
    ...(table_format != null && { tableFormat: table_format }),
  };
}

function sourceOf({ document_url, image_url, file_id }: OcrRequest["document"]): OcrCall["source"] {
  const given = Object.entries({ document_url, image_url, file_id }).filter(([, value]) => value != null);
  if (given.length > 1) {
    throw fieldError("invalid_value", `document.${given[1]?.[0]}`, `must be absent where '${given[0]?.[0]}' is given`);
  }
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

/** A page by its number from 0. */
const single = (index: number): PageRange => ({ first: index + 1, last: index + 1 });

function rangesOf(text: string): PageRange[] {
  const refusal = () => {
    const must = `be numbers of pages, from 0, and ranges of them, as 0-2,5, at most ${MOST_RANGES}`;
    return invalidValue("pages", must, received(text));
  };
  const parts = text.split(",", MOST_RANGES + 1);
  if (parts.length > MOST_RANGES) throw refusal();
  return parts.map((part) => {
    const [, first, last = first] = RANGE.exec(part.trim()) ?? [];
    if (first === undefined || Number(first) > Number(last)) throw refusal();
    return { first: Number(first) + 1, last: Number(last) + 1 };
  });
}
