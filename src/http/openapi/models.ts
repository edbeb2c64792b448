// API description: models.

import { badRequest, type Operations } from "./operation.ts";

const requestHeaders = {
  "anthropic-version": {
    description: "Of any value, as clients of the Anthropic API send it: the answer has that API's form.",
    schema: { type: "string" },
  },
};
const headers = { "Request-ID": "With anthropic-version: the same as X-Request-ID." };

export const modelsOperations: Operations = {
  "GET /v1/models": {
    summary: "List the available models",
    description: `The model of this server, and with --gateway or --upstream those of its upstreams as \`name/model\`; loaded ones first,
otherwise in a stable order. \`loaded\` is false while a model is loading or its upstream is unreachable. \`models\` lists the
capabilities of each. The context length, where it is known, is given under every name that clients look for. \`svc-system\`
(owned_by \`system\`) is the small model that is part of every svc: a separate engine answers requests that name it, started on
first use and stopped after five idle minutes, or the main engine where svc-mini is the served model; until then \`loaded\` is
false. It takes temperature, top_p, seed, the length, stop, tools, response_format and reasoning; other sampling fields,
logprobs (always empty) and X-Svc-Profile are ignored; grammar and media are refused with 400 \`unsupported_parameter\`; a
prompt and its answer have 4096 tokens together; it has no public tokenizer, and it never answers for another model. Requests
that another svc forwarded (header Via) get only the models that are computed here.

With anthropic-version it is the list of Anthropic's Models API, of the models that answer messages, and errors have that API's
envelope. Query: limit (1 to 1000, default 20), after_id, before_id (a model's id).`,
    answers: { 200: "The available models." },
    errors: { 400: badRequest, 404: "With anthropic-version: `after_id` or `before_id` names no model of the list." },
    requestHeaders,
    headers,
  },
  "GET /v1/models/{id}": {
    summary: "Describe a model by its name",
    description:
      "The entry of the list; a slash in the name may be sent as it is or as %2F. On other routes unknown names fall back to the active model; here they are an error.",
    answers: { 200: "The model." },
    requestHeaders,
    headers,
    errors: { 404: "`model_not_found`: no model with this name is served." },
  },
};
