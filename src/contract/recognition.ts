// POST /v1/vision/ocr

import { MOST_PAGES, RECOGNITION_MODES, SALIENCY_TYPES } from "../domain/recognition.ts";
import { JsonObject, nullable, oneOf, opt, optFlag, optInteger, optText, t, type Static } from "./schema.ts";

/** More languages at once make recognition slow without improving it. */
export const MOST_LANGUAGES = 8;
const MOST_LABELS = 100;

/** Languages of the text to recognise. */
export const languages = opt(
  t.Array(t.String({ minLength: 1 }), {
    minItems: 1,
    maxItems: MOST_LANGUAGES,
    description:
      'Language tags of the text, the most frequent first, such as ["de", "en-US"]; default: those of --ocr-language.',
  }),
);

const controls = {
  mode: opt(oneOf(...RECOGNITION_MODES)),
  table: optFlag("The same as `mode: table`; `mode` takes precedence."),
  debug: optFlag("The same as `mode: debug`; takes precedence over `mode` and `table`."),
  verbose: optFlag("Adds `debug_output` in every mode whose answer has documents."),
  recognition_level: opt(oneOf("accurate", "fast")),
  detail: opt(oneOf("high", "low", "auto")),
  uses_language_correction: optFlag("Whether to prefer words of the languages' dictionaries; default true."),
  languages,
  max_pages: optInteger({ minimum: 1, maximum: MOST_PAGES }, "Documents with more pages are refused; default 50."),
  pages: optText(
    "Pages of a document, such as `1-3,7` or `5-`; default: all. `max_pages` limits the number of these pages.",
  ),
  auto_crop: optFlag("Find the sheet of paper in the image, straighten it, and recognise only that."),
  response_format: opt(oneOf("json", "text", "markdown")),
  origin: opt(oneOf("bottom-left", "top-left")),
  max_labels: optInteger({ minimum: 1, maximum: MOST_LABELS }, "Maximum number of labels; default 5."),
  saliency_type: opt(oneOf(...SALIENCY_TYPES)),
  include_heat_map: opt(t.Boolean()),
  include_words: optFlag("Adds `words` to each of `text_blocks`."),
  model: optText("Any name; there is only one model."),
};

const ImageUrl = t.Union([t.String({ minLength: 1 }), t.Object({ url: t.String({ minLength: 1 }) })]);

export const RecognitionRequest = t.Object({
  file: opt(
    t.String({
      minLength: 1,
      description:
        "In a form: the image or document. In JSON: the path of a file in the server's media folder (--media-root).",
    }),
  ),
  data: opt(t.String({ minLength: 1, description: "The file in base64 or as a data: URL." })),
  filename: optText("Name of `data` in the answer. The format is detected from the content."),
  media_type: optText("Media type of `data`. Ignored: it is detected from the content."),
  image_url: opt(ImageUrl),
  messages: opt(
    t.Array(JsonObject, {
      minItems: 1,
      description: "Messages in the form of any chat API of this server; their images and documents are read.",
    }),
  ),
  ...controls,
});
export type RecognitionRequest = Static<typeof RecognitionRequest>;

/** The parts of a form, for the API description. */
export const RecognitionForm = t.Object({ ...controls, file: t.String({ format: "binary" }) });

const BoundingBox = t.Object(
  { x: t.Number(), y: t.Number(), width: t.Number(), height: t.Number() },
  {
    description:
      "Fractions of the page, 0 to 1. `x` and `y` belong to the corner of the box that is nearest to `origin`.",
  },
);

const confidence = t.Number({ description: "0 to 1; 1 for text that the document itself contains." });

const TextBlock = t.Object({
  text: t.String({ description: "The text of a line." }),
  confidence,
  page_number: t.Integer(),
  bounding_box: BoundingBox,
  block: t.Integer({
    description: "Number of the block (paragraph) that the line belongs to, counted from 0 on each page.",
  }),
  words: t.Optional(t.Array(t.Object({ text: t.String(), confidence, bounding_box: BoundingBox }))),
});

const Table = t.Object({
  page_number: t.Integer(),
  rows: t.Array(t.Array(t.String())),
  headers: t.Array(t.String()),
  row_objects: t.Array(t.Record(t.String(), t.String())),
  column_count: t.Integer(),
  average_confidence: t.Number(),
  merged_cell_hints: t.Array(t.String()),
  bounding_box: BoundingBox,
  csv_data: t.String(),
});

const Page = t.Object({
  page_number: t.Integer(),
  text: t.String(),
  width: t.Number({ description: "In pixels; for a PDF in points." }),
  height: t.Number(),
  source: oneOf("text", "recognition"),
  text_blocks: t.Array(TextBlock),
  tables: t.Array(Table),
});

const Document = t.Object({
  file: t.String(),
  source_type: oneOf("upload", "file", "data", "image_url", "message_image"),
  text: t.String(),
  full_text: t.String({ description: "The text with the page number above each page." }),
  page_count: t.Integer({ description: "Number of pages of the whole document." }),
  document_hints: t.Array(t.String()),
  pages: t.Array(Page),
  text_blocks: t.Array(TextBlock),
  tables: t.Array(Table),
});

export const RecognizedDocuments = t.Object({
  object: t.Literal("vision.ocr"),
  mode: oneOf("text", "table", "debug"),
  documents: t.Array(Document),
  combined_text: t.String(),
  document_hints: t.Array(t.String()),
  debug_output: t.Optional(t.String()),
});
export type RecognizedDocuments = Static<typeof RecognizedDocuments>;

const FoundBarcode = t.Object({
  type: t.String({ description: "QR, EAN13, UPCA, Code128, PDF417, …" }),
  payload: t.String(),
  bounding_box: BoundingBox,
  confidence: t.Number(),
  page_number: t.Integer(),
});

export const FoundBarcodes = t.Object({
  object: t.Literal("vision.ocr"),
  mode: t.Literal("barcode"),
  results: t.Array(FoundBarcode),
});
export type FoundBarcodes = Static<typeof FoundBarcodes>;

const Label = t.Object({
  label: t.String(),
  confidence: t.Number({
    description: "Probability that the model assigned to the tokens of the label when it wrote them.",
  }),
});

export const FoundLabels = t.Object({
  object: t.Literal("vision.ocr"),
  mode: t.Literal("classify"),
  labels: t.Array(Label),
  salient_regions: t.Array(t.Object({ type: t.Literal("attention"), bounding_box: BoundingBox })),
});
export type FoundLabels = Static<typeof FoundLabels>;

export const FoundAnything = t.Object({
  object: t.Literal("vision.ocr"),
  mode: t.Literal("auto"),
  modes_run: t.Array(oneOf("text", "barcode", "classify")),
  text: t.Optional(t.String()),
  barcodes: t.Optional(t.Array(FoundBarcode)),
  labels: t.Optional(t.Array(Label)),
});
export type FoundAnything = Static<typeof FoundAnything>;

export const FoundRegions = t.Object({
  object: t.Literal("vision.ocr"),
  mode: t.Literal("saliency"),
  regions: t.Array(t.Object({ type: oneOf(...SALIENCY_TYPES), bounding_box: BoundingBox, page_number: t.Integer() })),
  heat_map: nullable(t.String({ description: "PNG of the first page, in base64." })),
});
export type FoundRegions = Static<typeof FoundRegions>;
