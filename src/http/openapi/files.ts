// Files, as the API description tells them.

import { badRequest, storageErrors, type Operations } from "./operation.ts";

const notFound = { 404: "No file with this id is stored: it was never there, was deleted or has expired." };

export const filesOperations: Operations = {
  "POST /v1/files": {
    tag: "Batches",
    summary: "Upload a file",
    description: `The input of a batch: JSON Lines in UTF-8, a JSON object on each line (empty lines are skipped). As a form with the parts
file and purpose (\`batch\`, the only one, also where it is absent), or as the body itself, of any other Content-Type, with
purpose and filename in the query (default \`upload.jsonl\`). The file goes to disk as it comes; its size, its lines and
their JSON are checked on the way, and an error names the line.

expires_after[anchor] (\`created_at\`) and expires_after[seconds] (3600 to 2592000) say when it is deleted by itself; else
--keep-files does.`,
    answers: { 200: "The file." },
    errors: {
      400: badRequest,
      413: "The file is larger than --max-file-mb (100 MB); it is refused while it is read.",
      ...storageErrors,
    },
  },
  "GET /v1/files": {
    tag: "Batches",
    summary: "List files",
    description: `Query: limit (1 to 10000, the default), order (asc or desc, the default) by creation, after (a file's id), purpose
(\`batch\` or \`batch_output\`). A page may begin after a file that was deleted or has expired within the last hour.`,
    answers: { 200: "One page of files." },
    errors: { 400: badRequest, 404: "`after` names no stored file.", ...storageErrors },
  },
  "GET /v1/files/{id}": {
    tag: "Batches",
    summary: "Describe a file",
    answers: { 200: "The file." },
    errors: { ...notFound, ...storageErrors },
  },
  "DELETE /v1/files/{id}": {
    tag: "Batches",
    summary: "Delete a file",
    description: "Batches that were made of it go on.",
    answers: { 200: "It is deleted." },
    errors: { ...notFound, ...storageErrors },
  },
  "GET /v1/files/{id}/content": {
    tag: "Batches",
    summary: "Fetch a file's content",
    description: `An output file has a line for each line of its batch's input, in the order of their ends, tagged with custom_id:
\`{id, custom_id, response: {status_code, request_id, body}, error}\`. A request that was refused or failed has the status
and body that its endpoint gives, and error with code and message beside them; error is null where it was answered. One
that was never asked, because the batch was cancelled or expired, has response null and error \`batch_cancelled\` or
\`batch_expired\`.

A Range header with one range of bytes is honoured (206, or 416 beyond the content), If-Range and If-None-Match with the
ETag as well.`,
    answers: { 200: "The content, as it is stored." },
    errors: { ...notFound, 416: "The Range header asks for bytes beyond the content.", ...storageErrors },
    headers: { ETag: "Identifies the content.", "Accept-Ranges": "`bytes`." },
  },
};
