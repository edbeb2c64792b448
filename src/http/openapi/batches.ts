// API description: batch jobs.

import { badRequest, pageQuery, storageErrors, tooLarge, type Operations } from "./operation.ts";

const notFound = {
  404: "No batch with this id is stored: it never existed, or ended more than --keep-batches days ago.",
};

export const batchesOperations: Operations = {
  "POST /v1/batches": {
    summary: "Answer the lines of a file",
    description: `Each line of the file is a request:
\`{custom_id, method: "POST", url: "/v1/chat/completions", body}\`. custom_id has 1 to 512 characters and is unique in
the file. body is a request of the chat route; its stream is ignored. On a server with --batch-endpoints, a batch and
all its lines may name another endpoint: /v1/completions, /v1/responses (nothing is stored or continued),
/v1/embeddings, /v1/audio/transcriptions or /v1/audio/translations (JSON bodies; an answer that is text is a JSON
string; an answer of vectors has \`truncated\`, the number of inputs that were truncated, if any). usage counts the tokens of answers that report them. The model of a line may be an upstream's, as
\`name/model\`; while that upstream is unreachable, the line waits and does not hold up other batches. Lines without a
model are answered by the batch's \`model\`, the server's default for the endpoint.

**States.** \`validating\`: the lines are checked; errors lists what is invalid, with line numbers (\`failed\`: nothing
is answered). \`in_progress\`: lines are answered, a few at a time; request_counts and usage are updated. A few batches
run at once; the others wait in this state, the oldest first. \`finalizing\`, \`completed\`: output_file_id names the
output. A line that is refused or fails is a line of the output and does not fail the batch; there is no error file.
When completion_window has passed, the batch is \`expired\`; after a cancel it is \`cancelling\`, then \`cancelled\`.
The output then has all lines that were answered, and for the others the reason; these count neither as completed
nor as failed.

**Priority.** Batches are processed with idle capacity: requests of all other routes are computed first and preempt
lines.

**Durability.** Files and batches outlive the server. After a stop or a crash, a batch resumes at the next start; each
line is in the output once. If the server of a batch is gone, another server on the same --data-dir takes the batch over
and answers it with its own model.

completion_window is a number with s, m, h or d, from \`1s\` to \`30d\`. The output file is retained for the time of
output_expires_after; default: --keep-files. Deleting the input file does not stop the batch. The batch itself is listed
for --keep-batches days (30) after its end, longer while its output file exists, and is then deleted.`,
    answers: { 200: "The batch." },
    errors: { 400: badRequest, 404: "input_file_id names no stored file.", 413: tooLarge("1 MiB"), ...storageErrors },
    example: { input_file_id: "file-0123456789abcdef01234567", endpoint: "/v1/chat/completions" },
  },
  "GET /v1/batches": {
    summary: "List batches",
    query: pageQuery("a batch"),
    answers: { 200: "One page of batches." },
    errors: { 400: badRequest, 404: "`after` names no stored batch.", ...storageErrors },
  },
  "GET /v1/batches/{id}": {
    summary: "Fetch a batch",
    answers: { 200: "The batch, with its current counts." },
    errors: { ...notFound, ...storageErrors },
  },
  "POST /v1/batches/{id}/cancel": {
    summary: "Cancel a batch in progress",
    description: `Running lines are cancelled. The output has every line that was answered before, and all other lines
with the error \`batch_cancelled\`. A batch that is still validating is cancelled once its validation ends.`,
    answers: { 200: "The batch, `cancelling` or already `cancelled`." },
    errors: { 400: "The batch is no longer in progress.", ...notFound, ...storageErrors },
  },
};
