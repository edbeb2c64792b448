// API description: text recognition.

import { badRequest, jobErrors, temporaryFull, upstreamNamed, type Operations } from "./operation.ts";

const recognitionErrors = {
  400: `${badRequest} \`unsupported_media_input\`: the format of the file is not supported, or the PDF is encrypted.`,
  404: `\`not_found\`: there is no such file in the server's media folder. ${upstreamNamed}`,
  413: "The file is larger than 25 MiB, or a JSON body than 100 MiB; it is refused while it is read.",
  422: "`no_text`, `no_tables`: the file has no text or no tables. `unprocessable_media`: the file is damaged, has more than 4096 pixels a side, or more pages than max_pages.",
  ...jobErrors("there is no trained data for text recognition, loading the model"),
  501: "`mode_unavailable`: this server has no model for the mode.",
  507: temporaryFull,
};

export const recognitionOperations: Operations = {
  "POST /v1/vision/ocr": {
    summary: "Recognise text, codes and tables in images and documents",
    description: `The file comes in a form, as the part \`file\` with the other fields as parts, or in JSON in one of
these fields: \`data\` (base64 or a data: URL), \`image_url\` (a data: URL or a path), \`messages\` (the image parts of
chat messages; each is a document), or \`file\`, its path under --media-root. Nothing is fetched from URLs. Formats are
detected from the content: PNG, JPEG, WebP, GIF (first frame), BMP, TIFF (every page), HEIC or PDF, with at most 25 MiB
and 4096 pixels a side. Images are rotated according to their EXIF data. For a page of a PDF that contains text, the
answer has that text (\`source\`: \`text\`); other pages are rendered and recognised (\`recognition\`).

\`mode\`: text (default), table, barcode, saliency (regions that attract the eye; \`saliency_type\` attention or
objectness, \`include_heat_map\`), classify (labels of a document's first page, at most \`max_labels\`, by the chat
model if it has image input; else 501), auto (text, codes and labels, as far as there are any) or debug (text, and how
it was found). \`debug\` takes precedence over \`mode\`, and \`mode\` over \`table\`. \`auto_crop\` reads only the sheet
of paper that a photograph shows.

\`languages\` are those of the text, as tags (de, pt-BR, zh-Hant) or names of trained data. English is embedded; other
languages come from svc pull tessdata:NAME, --ocr-data or packages of the system. \`recognition_level\` fast renders
pages at half the resolution and does not enlarge small print; \`detail\` low and high are other names for fast and
accurate. \`origin\` sets where the coordinates of boxes begin: bottom-left (default) or top-left.

Several pages are read at once, and clients take turns with them. POST /v1/chat/completions/{id}/cancel with the
correlation id cancels a request.`,
    answers: { 200: "The result; with response_format `text` or `markdown` only its text." },
    errors: recognitionErrors,
    queued: true,
  },
  "POST /v1/ocr": {
    summary: "Convert documents to Markdown",
    description: `Mistral-compatible, for clients of that API such as Open WebUI. The document is a data: URL, a path
under --media-root, or a file that was uploaded with purpose \`ocr\`: by file_id, or by the address that GET
/v1/files/{id}/url returns. Nothing is fetched from elsewhere. Each page becomes Markdown, with its tables. Pages are
read as in POST /v1/vision/ocr, with the same limits, except that a document may have 1000 pages. With table_format, the
Markdown has a link in place of each table, and \`tables\` has the table under the name in that link. Images within
pages are not extracted (\`images\` is empty). bbox_annotation_format and document_annotation_format are refused,
because annotations need a model that understands images; extract_header, extract_footer, include_blocks and
confidence_scores_granularity are refused as well. A page without text has empty Markdown. dimensions are in pixels, or
for a PDF in points.`,
    answers: { 200: "The pages." },
    errors: recognitionErrors,
    queued: true,
  },
};
