// Batch jobs, as the API description tells them.

import { badRequest, storageErrors, tooLarge, type Operations } from "./operation.ts";

const notFound = { 404: "No batch with this id is stored: it was never there, or ended --keep-batches days ago." };

export const batchesOperations: Operations = {
  "POST /v1/batches": {
    tag: "Batches",
    summary: "Answer the lines of a file",
    description: `Each line of the file is a request: \`{custom_id, method: "POST", url: "/v1/chat/completions", body}\`, with a custom_id of 1
to 512 characters that no other line has. body is what the chat route takes; stream in it is ignored. Its model may be one of
another server, as \`name/model\`; while that is out of reach, the line waits and holds up no other batch. The batch's own
model is the one that answers lines which name none.

**States.** \`validating\`: the lines are checked, and what is wrong with them is listed in errors with their numbers
(\`failed\`, then nothing is answered). \`in_progress\`: they are answered, a few at once; request_counts and usage grow
meanwhile. A few batches are answered at once, the others wait in this state, the oldest first. \`finalizing\`, \`completed\`: output_file_id names the output. A line that is refused or fails is a line of the
output and does not fail the batch; there is no error file. When completion_window is over the batch is \`expired\`, after a
cancel \`cancelling\` and \`cancelled\`: the output then has what was answered, and for the other lines why they were not.

**Precedence.** Batches take what others leave: a request of any other route is computed first, and a line gives its place
back for it.

**Durable.** Files and batches outlive the server. One that was stopped, or killed, goes on when it is started again;
each line is in the output once. A batch whose server is gone is taken over by another one on the same --data-dir, and is
then answered by the model that this serves.

completion_window is a number with s, m, h or d, at most \`30d\`. The output file is kept as output_expires_after says, else as
--keep-files. Deleting the input file does not stop the batch. The batch itself is listed for --keep-batches days (30) after its
end, longer while its output file is there, and is then deleted.`,
    answers: { 200: "The batch." },
    errors: { 400: badRequest, 404: "input_file_id names no stored file.", 413: tooLarge("1 MB"), ...storageErrors },
    example: { input_file_id: "file-0123456789abcdef01234567", endpoint: "/v1/chat/completions" },
  },
  "GET /v1/batches": {
    tag: "Batches",
    summary: "List batches",
    description: "The newest first. Query: limit (1 to 100, default 20), after (a batch's id), order (asc or desc).",
    answers: { 200: "One page of batches." },
    errors: { 400: badRequest, 404: "`after` names no stored batch.", ...storageErrors },
  },
  "GET /v1/batches/{id}": {
    tag: "Batches",
    summary: "Fetch a batch",
    answers: { 200: "The batch, with its counts as they are now." },
    errors: { ...notFound, ...storageErrors },
  },
  "POST /v1/batches/{id}/cancel": {
    tag: "Batches",
    summary: "Cancel a batch in progress",
    description: `Lines under way are given up. The output has what was answered before, and every other line with the error
\`batch_cancelled\`. A batch that is still validating is cancelled as soon as it is not.`,
    answers: { 200: "The batch, which is `cancelling`, or `cancelled` already." },
    errors: { 400: "It is not in progress any more.", ...notFound, ...storageErrors },
  },
};
