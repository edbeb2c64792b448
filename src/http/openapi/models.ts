// API description: models.

import { MODEL_PAGE } from "../../dialect/messages/models.ts";
import { badRequest, pageSize, type Operations } from "./operation.ts";

const requestHeaders = {
  "anthropic-version": {
    description: "With any value, as clients of the Anthropic API send it, the answer has the form of that API.",
    schema: { type: "string" },
  },
};
const headers = { "Request-ID": "With anthropic-version: the same as X-Request-ID." };

export const modelsOperations: Operations = {
  "GET /v1/models": {
    summary: "List the available models",
    description: `The models of this server and, with --gateway or --upstream, those of its upstreams as \`name/model\`.
Loaded models come first; otherwise the order is stable. \`loaded\` is false for a model that is loaded on first use (as
those of --chat-model and --pulled-models) or loading at the moment, and for one whose upstream is unreachable. \`models\` lists the capabilities of each model. The context length, where it is known, is given under
every name that clients look for.

\`svc-system\` (owned_by \`system\`) is the small model that is part of every svc. Requests that name it are answered by
a separate engine, which starts on first use and stops after five idle minutes, or by the main engine if svc-mini is the
served model; until then \`loaded\` is false. It takes temperature, top_p, seed, the length, stop, tools,
response_format and reasoning. Other sampling fields, logprobs (always empty) and X-Svc-Profile are ignored; grammar and
media are a 400 \`unsupported_parameter\`. A prompt and its answer have at most 4096 tokens together. svc-system has no
public tokenizer, and it never answers for another model.

Requests that another svc forwarded (header Via) get only the models that are computed here.

With anthropic-version the answer is the list of Anthropic's Models API, with the models that answer messages, and
errors have that API's envelope.`,
    answers: { 200: "The available models." },
    query: {
      limit: pageSize("With anthropic-version: maximum number of models", MODEL_PAGE),
      after_id: {
        description: "With anthropic-version: a model's id; the page begins after it.",
        schema: { type: "string" },
      },
      before_id: {
        description: "With anthropic-version: a model's id; the page ends before it.",
        schema: { type: "string" },
      },
    },
    errors: { 400: badRequest, 404: "With anthropic-version: `after_id` or `before_id` names no model of the list." },
    requestHeaders,
    headers,
  },
  "GET /v1/models/{id}": {
    summary: "Describe a model by its name",
    description:
      "The entry of the list. A slash in the name may be sent unescaped or as %2F. Unknown names, which fall back to the active model on other routes, are an error here.",
    answers: { 200: "The model." },
    requestHeaders,
    headers,
    errors: { 404: "`model_not_found`: no model with this name is served." },
  },
};
