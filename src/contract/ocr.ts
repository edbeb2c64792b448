// POST /v1/ocr

import { MOST_PAGES } from "../domain/recognition.ts";
import { languages } from "./recognition.ts";
import { JsonObject, oneOf, opt, optFlag, optText, t, type Static } from "./schema.ts";

const text = t.String({ minLength: 1 });
const TABLE_FORMATS = ["markdown", "html"] as const;

export const OcrRequest = t.Object({
  model: optText("Any name; there is only one model."),
  id: opt(t.String()),
  document: t.Object(
    {
      type: opt(oneOf("document_url", "image_url", "file")),
      document_url: opt(text),
      document_name: opt(t.String()),
      image_url: opt(t.Union([text, t.Object({ url: text })])),
      file_id: opt(text),
    },
    {
      description:
        "An image or document: `document_url` or `image_url` (a data: URL, a path under --media-root, or the address from GET /v1/files/{id}/url), or `file_id`.",
    },
  ),
  pages: opt(
    t.Union([t.Array(t.Integer({ minimum: 0 }), { minItems: 1, maxItems: MOST_PAGES }), t.String()], {
      description:
        "Page numbers counted from 0, as a list or as ranges such as `0-2,5` or `5-`, at most 1000; default: all pages.",
    }),
  ),
  include_image_base64: optFlag("No effect: images within pages are not extracted, and `images` is empty."),
  image_limit: opt(t.Integer({ minimum: 0 })),
  image_min_size: opt(t.Integer({ minimum: 0 })),
  table_format: opt(oneOf(...TABLE_FORMATS)),
  languages,
});
export type OcrRequest = Static<typeof OcrRequest>;

const OcrPage = t.Object({
  index: t.Integer({ description: "Number of the page, from 0." }),
  markdown: t.String(),
  images: t.Array(JsonObject),
  tables: t.Optional(
    t.Array(t.Object({ id: t.String(), content: t.String(), format: oneOf(...TABLE_FORMATS) }), {
      description: "Present with `table_format`.",
    }),
  ),
  dimensions: t.Object({ dpi: t.Integer(), height: t.Integer(), width: t.Integer() }),
});

export const OcrResponse = t.Object({
  pages: t.Array(OcrPage),
  model: t.String(),
  document_annotation: t.Null(),
  usage_info: t.Object({ pages_processed: t.Integer(), doc_size_bytes: t.Integer() }),
});
export type OcrResponse = Static<typeof OcrResponse>;
