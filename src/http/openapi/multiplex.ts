// API description: many chat completions in one request.

import { ProfileDetail } from "../../contract/chat.ts";
import { MOST_ITEMS } from "../../contract/multiplex.ts";
import { constraintHeader, generationErrors, question, type Operations } from "./operation.ts";

const { 400: badRequest, 404: noModel, 413: tooLarge, 503: unavailable } = generationErrors;

export const multiplexOperations: Operations = {
  "POST /v1/batch/completions": {
    summary: "Answer many conversations in one stream",
    description: `A request has 1 to ${MOST_ITEMS} items. Each item has a custom_id of 1 to 512 characters, unique
within the request, and a body: a request of POST /v1/chat/completions with all of its fields, stream or not. A prefix
that items share is computed once. All bodies are checked before anything begins: the first body that is refused (400;
404 or 503 for its model) refuses the whole batch, and \`param\` names the place (\`requests.3.body.messages\`).

The answer is always a stream. All items belong to one client: they take turns with other clients' requests. Only as
many items as keep the engine busy are in the engine; the others wait without taking places in the queue.
--queue-timeout does not count that time; X-Svc-Deadline-Ms does. The batch itself is refused with 503 \`server_busy\`
when a single request would be. A slow reader makes the items wait.

**Failures** of an item are one event, and the others continue. While the server shuts down, items that have not begun
fail with \`shutting_down\`.

**Cancelling** with POST /v1/chat/completions/{id}/cancel: the request's X-Request-ID as \`id\` cancels all items. That
id, a colon and the custom_id (escaped for a path) cancel one item, and so does the custom_id alone: the newest item
with it. Cancelled items end with finish_reason \`cancelled\`. Disconnecting cancels all items.

**X-Grammar-Constraints** is \`downgraded\` when an item's strict schema has parts that a grammar cannot express, its
model's upstream does not enforce it, or the server runs with --no-grammar-constraints. Every event of an item whose
strict schema is not fully enforced has grammar_constraints, also if only the upstream's answer shows that, which is
later than the header.`,
    answers: { 200: "The events of all items." },
    headers: constraintHeader,
    requestHeaders: {
      "X-Svc-Profile": {
        description: "Requests the resources that each item used, as in chat completions.",
        schema: ProfileDetail,
      },
    },
    errors: { 400: badRequest, 404: noModel, 413: tooLarge, 503: unavailable },
    example: {
      requests: [
        { custom_id: "france", body: { ...question, max_tokens: 50 } },
        { custom_id: "italy", body: { messages: [{ role: "user", content: "And of Italy?" }], stream: true } },
      ],
    },
    stream: `Each event is a MultiplexEvent: JSON with custom_id, which identifies the item. Events of different items
are interleaved in any order; those of one item keep their order. An item with stream true has the events of a chat
completion's stream; an item without it has a single chat.completion. An item that fails ends with a batch.error, whose
\`error\` is that of an error body (\`param\` names a field of the item's body) with the custom_id. Stream decoders of
chat completions raise an \`error\` as an exception and close the stream, which cancels the other items: clients that
parse SSE themselves receive every item. One \`[DONE]\` ends the stream, after all items. The stream begins with a
comment line, and comment lines keep it alive while it is silent.`,
  },
};
