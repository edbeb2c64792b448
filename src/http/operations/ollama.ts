// Ollama's API, as the API description tells it.

import { badRequest, question, tooLarge, unavailable, type Operations } from "./operation.ts";

const ollamaErrors = { 400: badRequest, 413: tooLarge("100 MB"), 503: unavailable };

export const ollamaOperations: Operations = {
  "POST /api/chat": {
    tag: "Conveniences",
    summary: "Answer a conversation, in Ollama's API",
    description: `For tools that know no other; off with --no-conveniences. Streams unless \`stream\` is false. format is json or a schema,
enforced while sampling. think is a boolean or a level; thinking is off unless asked for. keep_alive and options without a
meaning here have no effect. Errors are \`{"error": "…"}\`.`,
    answers: { 200: "The answer, whole or as a stream." },
    errors: ollamaErrors,
    example: { ...question, stream: false },
    stream:
      "Lines of JSON (application/x-ndjson); the last has `done` true, the counts and the durations in nanoseconds.",
  },
  "POST /api/generate": {
    tag: "Conveniences",
    summary: "Answer a prompt, in Ollama's API",
    description:
      "With raw or suffix the prompt is continued as it is; else it is a user's message. No prompt: is the model there.",
    answers: { 200: "The answer, whole or as a stream." },
    errors: ollamaErrors,
    example: { prompt: "What is the capital of France?", stream: false },
    stream: "Lines of JSON (application/x-ndjson), as for /api/chat.",
  },
  "POST /api/show": {
    tag: "Conveniences",
    summary: "Describe the loaded model, in Ollama's API",
    answers: { 200: "What the model is and can do." },
    errors: ollamaErrors,
    example: { model: "svc-mini" },
  },
  "GET /api/tags": {
    tag: "Conveniences",
    summary: "List models, in Ollama's API",
    answers: { 200: "The loaded model; an empty list while it loads." },
  },
  "GET /api/ps": {
    tag: "Conveniences",
    summary: "List loaded models, in Ollama's API",
    answers: { 200: "The loaded model; an empty list while it loads." },
  },
  "GET /api/version": {
    tag: "Conveniences",
    summary: "Version, in Ollama's API",
    answers: { 200: "The version of svc." },
  },
};
