// Many chat completions in one request, as the API description tells it.

import { ProfileDetail } from "../../contract/chat.ts";
import { MOST_ITEMS } from "../../contract/multiplex.ts";
import { constraintHeader, generationErrors, question, type Operations } from "./operation.ts";

const { 400: badRequest, 404: noModel, 413: tooLarge, 503: unavailable } = generationErrors;

export const multiplexOperations: Operations = {
  "POST /v1/batch/completions": {
    tag: "Generation",
    summary: "Answer many conversations in one stream",
    description: `1 to ${MOST_ITEMS} items. Each has a custom_id of 1 to 512 characters, unique within the request, and a body: a
request of POST /v1/chat/completions with all that it may say, stream or not. What one answer shares with another is computed
once. All bodies are checked before anything begins: the first that is refused (400; 404 or 503 for its model) refuses the
batch, and \`param\` names the place (\`requests.3.body.messages\`).

The answer is always a stream. The items are one client's: they take turns with other clients' requests, and only as many
are in the engine as keep it busy, the others wait for these without taking places in the queue. --queue-timeout does not
count that time; X-Svc-Deadline-Ms does. The batch itself is refused with 503 \`server_busy\` when a single request would be.
A slow reader makes the items wait.

**Failures** of an item are one event, and the others go on. While the server shuts down, items that have not begun fail
with \`shutting_down\`.

**Cancelling** with POST /v1/chat/completions/{id}/cancel: the request's X-Request-ID as \`id\` ends all items; that id, a
colon and the custom_id end one (escaped for a path), and so does the custom_id alone, the newest so named. They end with
finish_reason \`cancelled\`. A client that leaves ends them all.

**X-Grammar-Constraints** is \`downgraded\` when an item asks strictly for what a grammar cannot express, or the server runs
with --no-grammar-constraints; every event of an item whose strict schema is not wholly enforced says so as
grammar_constraints.`,
    answers: { 200: "The events of all items." },
    headers: constraintHeader,
    requestHeaders: {
      "X-Svc-Profile": {
        description: "Asks what each item cost the machine, as in chat completions.",
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
    stream: `Each event is a MultiplexEvent: JSON with custom_id, by which clients take the stream apart; events of different items
come in any order, those of one item in theirs. An item with stream true has the events of a chat completion's stream; one
without has a single chat.completion; one that fails ends with a batch.error, whose \`error\` is that of an error body (\`param\`
names a field of the item's body) with the custom_id. Stream decoders of chat completions raise an \`error\` as an exception and
leave the stream, which ends the other items: who wants these all the same reads the lines. One \`[DONE]\` ends the stream, after all items. The stream begins with a comment line, and such lines keep it alive while it is silent.`,
  },
};
