// Everything in the API description beyond the routes' schemas: rules for all routes here, each route in its resource's
// file. Every route has one entry; a test compares both ways.

import { BODY_PATIENCE_MS, LEAST_BYTES } from "../body-chunks.ts";
import { batchesOperations } from "./batches.ts";
import { chatOperations } from "./chat.ts";
import { completionsOperations } from "./completions.ts";
import { conversationsOperations } from "./conversations.ts";
import { embeddingsOperations } from "./embeddings.ts";
import { filesOperations } from "./files.ts";
import { imagesOperations } from "./images.ts";
import { llamaOperations } from "./llama.ts";
import { messagesOperations } from "./messages.ts";
import { modelsOperations } from "./models.ts";
import { multiplexOperations } from "./multiplex.ts";
import { ollamaOperations } from "./ollama.ts";
import { realtimeOperations } from "./realtime.ts";
import { recognitionOperations } from "./recognition.ts";
import { requestsOperations } from "./requests.ts";
import { responsesOperations } from "./responses.ts";
import { sdapiOperations } from "./sdapi.ts";
import { serverOperations } from "./server.ts";
import { slotsOperations } from "./slots.ts";
import { speechOperations } from "./speech.ts";
import { tokenizeOperations } from "./tokenize.ts";
import { transcriptionsOperations } from "./transcriptions.ts";
import { upstreamsOperations } from "./upstreams.ts";
import type { Operation, Operations } from "./operation.ts";

/** Rules for all routes. */
export const commonRules = `Local AI models behind one HTTP server, with OpenAI-, Anthropic- and Ollama-compatible APIs.
The version given here is that of the API; /health gives the version of the program.

**API keys** are required if the operator has set any (--api-key, --api-key-file), on every route except /, /docs, what
these pages load (/page/…), /openapi.json and /health: \`Authorization: Bearer KEY\` or \`x-api-key: KEY\`. Requests
with a key belong to the client with the name of the key.

**Request ids.** Every answer has X-Request-ID and, with the same value, Compat-Request-ID: the id that the request sent
under either name (1 to 128 visible ASCII characters), else a new id. Requests are cancelled by this id.

**Errors** have the body \`{"error": {message, type, param, code, request_id}}\`. The message names fields, limits,
sizes and types, and never repeats text of a request. In addition to the errors of each route there are: 404
\`not_found\` for an unknown path; 405 \`method_not_allowed\` with an Allow header; 403 \`forbidden_origin\` for pages
of other origins and, except on the routes that need no key, for what such pages link to or embed; 403
\`forbidden_host\` for host names that are neither loopback's nor allowed. A 5xx whose repetition would fail again has
the header \`x-should-retry: false\`.

**Bodies** are JSON in UTF-8, with Content-Type application/json or none. The type that \`curl -d\` states by default
(application/x-www-form-urlencoded) and text/plain are accepted for requests that no browser sends, that is, without
Origin and Sec-Fetch headers. Any other type is a 400 \`unsupported_media_type\`. A field that is null counts as absent.
If nothing of a body, or beyond its first MiB less than ${LEAST_BYTES / 1024} KiB, arrives within
${BODY_PATIENCE_MS / 1000} seconds, the answer is 408 \`request_timeout\`.`;

/** Groups of routes in order, each with its resources. */
const groups: readonly (readonly [tag: string, ...resources: readonly Operations[]])[] = [
  [
    "Generation",
    chatOperations,
    responsesOperations,
    conversationsOperations,
    messagesOperations,
    completionsOperations,
    multiplexOperations,
  ],
  ["Embeddings", embeddingsOperations],
  ["Audio", transcriptionsOperations, realtimeOperations, speechOperations],
  ["Vision", recognitionOperations],
  ["Images", imagesOperations],
  ["Models", modelsOperations],
  ["Tokenizer", tokenizeOperations],
  ["Batches", filesOperations, batchesOperations],
  ["Server", requestsOperations, upstreamsOperations, serverOperations],
  ["Compatibility", llamaOperations, slotsOperations, ollamaOperations, sdapiOperations],
];

export const tags: readonly string[] = groups.map(([tag]) => tag);

/** Operations by method and path, such as `POST /v1/batches`. */
export const operations: Operations = Object.assign(
  {},
  ...groups.flatMap(([tag, ...resources]) =>
    resources.flatMap(Object.entries<Operation>).map(([route, operation]) => ({ [route]: { tag, ...operation } })),
  ),
);
