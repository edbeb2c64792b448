// API description: files.

import { FILE_PURPOSES, UPLOAD_PURPOSES } from "../../domain/file-purpose.ts";
import { FILES_PAGE } from "../../dialect/files/decode.ts";
import { badRequest, pageQuery, storageErrors, type Operations } from "./operation.ts";

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
    query: {
      purpose: {
        description: "Of a file that is the whole body: batch (default) or ocr.",
        schema: { type: "string", enum: [...UPLOAD_PURPOSES], default: "batch" },
      },
      filename: {
        description: "Of a file that is the whole body; default upload.jsonl.",
        schema: { type: "string", default: "upload.jsonl" },
      },
    },
    answers: { 200: "The file." },
    errors: {
      400: badRequest,
      413: "The file is larger than --max-file-mb (100 MiB); it is refused while it is read.",
      ...storageErrors,
    },
  },
  "GET /v1/files": {
    summary: "List files",
    description: "A page may also begin after a file that was deleted or expired within the last hour.",
    query: {
      ...pageQuery("a file", FILES_PAGE),
      purpose: {
        description: "Lists only files with this purpose: batch, batch_output or ocr.",
        schema: { type: "string", enum: [...FILE_PURPOSES] },
      },
    },
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

A Range header with several ranges is ignored.`,
    requestHeaders: {
      Range: { description: "One range of bytes.", schema: { type: "string" } },
      "If-Range": { description: "An ETag; Range is ignored unless it is the file's.", schema: { type: "string" } },
      "If-None-Match": { description: "ETags of contents that the client has.", schema: { type: "string" } },
    },
    answers: {
      200: "The content, as it is stored.",
      206: "The requested bytes; Content-Range says which of how many they are.",
      304: "If-None-Match names the file's ETag.",
    },
    errors: {
      ...notFound,
      416: "`invalid_value`: the Range header requests bytes beyond the content, whose length Content-Range gives.",
      ...storageErrors,
    },
    headers: { ETag: "Identifies the content.", "Accept-Ranges": "`bytes`." },
  },
};
