// API description: text recognition.

import { badRequest, jobErrors, type Operations } from "./operation.ts";

const recognitionErrors = {
  400: `${badRequest} \`unsupported_media_input\`: the file is of another format, or an encrypted PDF.`,
  404: "`not_found`: there is no such file in the server's media folder.",
  413: "The file is larger than 25 MB, or a JSON body than 100 MB; it is refused while it is read.",
  422: "`no_text`, `no_tables`: there is none. `unprocessable_media`: the file is damaged, has more than 4096 pixels a side, or more pages than max_pages.",
  ...jobErrors,
  501: "`mode_unavailable`: this server has no model for the mode.",
  503: "`server_busy`: the queue is full, or the request waited in it for as long as --queue-timeout allows. `engine_unavailable`: there is no data for text recognition, loading the model takes too long or failed, or its engine is stalled. Retry-After gives the time to retry in whole seconds.",
  507: "`storage_full`: the disk for temporary files is full.",
};

export const recognitionOperations: Operations = {
  "POST /v1/vision/ocr": {
    summary: "Text, codes and tables on pictures and documents",
    description: `The file comes in a form, as the part \`file\` with the other fields as parts, or JSON gives it in one of: \`data\` (base64, or
a data: URL), \`image_url\` (a data: URL, or a path), \`messages\` (the image parts of chat messages, a document each), or \`file\`, its path
under --media-root. Formats are detected from the content: PNG, JPEG, WebP, GIF (first frame), BMP, TIFF (every page),
HEIC or PDF; at most 25 MB and 4096 pixels a side. Pictures are turned as EXIF says. Nothing is fetched.
A page of a PDF that has text itself is answered with that (\`source\`: \`text\`), others are drawn and recognised (\`recognition\`).
\`mode\`: text (default), table, barcode, saliency (where the eye goes; \`saliency_type\` attention or objectness, \`include_heat_map\`), classify
(labels of a document's first page, at most \`max_labels\`, by the chat model, where that sees; else 501), auto (what there is of text and codes, and of labels) or debug
(text, and how it was found); \`debug\` takes precedence over it, and it over \`table\`. \`auto_crop\` reads only the sheet of paper that a photograph shows.
\`languages\` are those of the text, by tags (de, pt-BR, zh-Hant) or names of trained data; English is embedded, more comes by
svc pull tessdata:NAME, --ocr-data or packages of the system. \`recognition_level\` fast takes drawn pages at half the resolution, and small print as it is;
\`detail\` low and high are other names for fast and accurate. \`origin\` says where the coordinates of boxes begin: bottom-left (default)
or top-left.
Several pages are read at once, clients take turns with them. POST /v1/chat/completions/{id}/cancel with the correlation id
ends a request.`,
    answers: { 200: "What was found; by response_format `text` or `markdown` the text alone." },
    errors: recognitionErrors,
    queued: true,
  },
  "POST /v1/ocr": {
    summary: "Documents as Markdown",
    description: `Mistral-compatible, for clients of that API such as Open WebUI. The document is a data: URL, a path
under --media-root, or a file that was uploaded with purpose \`ocr\`: by file_id, or by the address that GET /v1/files/{id}/url gives.
Nothing is fetched from elsewhere. Each page becomes Markdown, with its tables; it is read as in POST /v1/vision/ocr, and so are its
limits, but for the pages, which may be 1000. With table_format the Markdown has a link in the place of each table, which is in
\`tables\` by the name in that link. Pictures in pages are not cut out (\`images\` is empty), and annotations need a model
that understands pictures: bbox_annotation_format and document_annotation_format are refused,
and so are extract_header, extract_footer, include_blocks and confidence_scores_granularity. A page without text has empty Markdown.
dimensions are pixels, or points of a PDF.`,
    answers: { 200: "The pages." },
    errors: recognitionErrors,
    queued: true,
  },
};
