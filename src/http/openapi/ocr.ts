// API description: documents as Markdown.

import { recognitionErrors } from "./recognition.ts";
import type { Operations } from "./operation.ts";

export const ocrOperations: Operations = {
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
