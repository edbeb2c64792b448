// API description: files.

import { badRequest, storageErrors, type Operations } from "./operation.ts";

const notFound = { 404: "No file with this id is stored: it never existed, was deleted or has expired." };

export const filesOperations: Operations = {
  "POST /v1/files": {
    summary: "Upload a file",
    description: `The input of a batch: JSON Lines in UTF-8, one JSON object per line; empty lines are skipped. The
request is either multipart/form-data with the parts file and purpose (\`batch\`, also the default), or the file itself
as the body, with any other Content-Type and purpose and filename in the query (default \`upload.jsonl\`). The file is
written to disk while it is received; its size, lines and JSON are checked at the same time, and errors name the line.

With the purpose \`ocr\`, in a part or in the query, the file is an image or document for /v1/ocr, and its content is
not checked. A part that says \`batch\` is best before the file: otherwise errors of its lines come at the end.

expires_after[anchor] (\`created_at\`) and expires_after[seconds] (3600 to 2592000) set when the file is deleted;
default: --keep-files.`,
    answers: { 200: "The file." },
    errors: {
      400: badRequest,
      413: "The file is larger than --max-file-mb (100 MiB); it is refused while it is read.",
      ...storageErrors,
    },
  },
  "GET /v1/files": {
    summary: "List files",
    description: `Query: limit (1 to 10000; default 10000), order by creation (asc or desc; default desc), after (a
file's id), purpose (\`batch\`, \`batch_output\` or \`ocr\`). A page may also begin after a file that was deleted or
expired within the last hour.`,
    answers: { 200: "One page of files." },
    errors: { 400: badRequest, 404: "`after` names no stored file.", ...storageErrors },
  },
  "GET /v1/files/{id}": {
    summary: "Describe a file",
    answers: { 200: "The file." },
    errors: { ...notFound, ...storageErrors },
  },
  "DELETE /v1/files/{id}": {
    summary: "Delete a file",
    description: "Batches that use the file continue.",
    answers: { 200: "The file is deleted." },
    errors: { ...notFound, ...storageErrors },
  },
  "GET /v1/files/{id}/url": {
    summary: "Get the address of a file's content",
    description:
      "The address that POST /v1/ocr takes as document_url. The query parameter expiry is ignored: the address is valid as long as the file exists.",
    answers: { 200: "The address." },
    errors: { ...notFound, ...storageErrors },
  },
  "GET /v1/files/{id}/content": {
    summary: "Fetch a file's content",
    description: `An output file has one line for each line of the batch's input, in order of completion, identified by
custom_id: \`{id, custom_id, response: {status_code, request_id, body}, error}\`. For a request that was refused or
failed, response has the status and body of its endpoint, and error has code and message; for an answer, error is null.
Lines that were never processed, because the batch was cancelled or expired, have response null and error
\`batch_cancelled\` or \`batch_expired\`.

A Range header with one range of bytes is honoured (206, or 416 beyond the content), as are If-Range and If-None-Match
with the ETag.`,
    answers: { 200: "The content, as it is stored." },
    errors: { ...notFound, 416: "The Range header requests bytes beyond the content.", ...storageErrors },
    headers: { ETag: "Identifies the content.", "Accept-Ranges": "`bytes`." },
  },
};
