// API description: Ollama's API.

import { vectorErrors } from "./embeddings.ts";
import {
  badRequest,
  generationErrors,
  picturesErrors,
  question,
  tooLarge,
  unavailable,
  type Operations,
} from "./operation.ts";

const notLocal = "`forbidden_host`: the server listens beyond loopback, or was addressed by a name of --allowed-host.";

export const ollamaOperations: Operations = {
  "POST /api/chat": {
    summary: "Answer a conversation, in Ollama's API",
    description: `A compatibility API, for tools that know no other; off with --no-compatibility-apis. Streams unless \`stream\` is false. format is
json or a schema, enforced while sampling. think is a boolean or a level; default: the model's own, off with a format. keep_alive and options without a
meaning here have no effect; truncate true is 400, and shift unless it says what --context-shift does. Errors are \`{"error": "…"}\`. With --ocr-input the text in images to a model that cannot see is read as for
POST /v1/chat/completions, and the last line has svc_recognitions.`,
    answers: { 200: "The answer, whole or as a stream." },
    errors: picturesErrors,
    example: { ...question, stream: false },
    streamType: "application/x-ndjson",
    stream: "Lines of JSON; the last has `done` true, the counts and the durations in nanoseconds.",
  },
  "POST /api/generate": {
    summary: "Answer a prompt, in Ollama's API",
    description:
      "With raw or suffix the prompt is continued as it is; else it is a user's message. Without a prompt the answer reports that the model is available. context, of an answer before, goes on with its conversation; answers to raw prompts have none.",
    answers: { 200: "The answer, whole or as a stream." },
    errors: picturesErrors,
    example: { prompt: "What is the capital of France?", stream: false },
    streamType: "application/x-ndjson",
    stream: "Lines of JSON, as for /api/chat.",
  },
  "POST /api/embed": {
    summary: "Texts as vectors, in Ollama's API",
    description: "Uses the models of /v1/embeddings. options and keep_alive have no effect.",
    answers: { 200: "A vector for each text." },
    errors: vectorErrors,
    example: { input: ["The sky is blue.", "Grass is green."] },
  },
  "POST /api/embeddings": {
    summary: "A text as a vector, in the older form of Ollama's API",
    answers: { 200: "The vector." },
    errors: vectorErrors,
    example: { prompt: "The sky is blue." },
  },
  "POST /api/show": {
    summary: "Describe a model, in Ollama's API",
    description: "The named model, or the one that answers for it.",
    answers: { 200: "The model's properties and capabilities." },
    errors: { 400: badRequest, 404: generationErrors[404], 413: tooLarge("100 MB"), 503: unavailable },
    example: { model: "svc-mini" },
  },
  "POST /api/pull": {
    summary: "Download a model, in Ollama's API",
    description: `Downloads a repository of the hub, as \`svc pull\` does; only for callers on this machine. The model is not served by
that: a server serves the models that it was started with, and the line before the last has the option for it.
Disconnecting ends the download; the next one resumes it.`,
    answers: {
      200: "Lines of this (application/x-ndjson): updates, the bytes so far, and last the status `success`; with `stream` false only that one.",
    },
    errors: {
      400: badRequest,
      403: notLocal,
      413: tooLarge("8 MB"),
      502: "`download_failed`: no such model, no permission, no network or no disk space; in a stream the last line, with `error`.",
    },
    example: { model: "owner/repository:Q4_K_M" },
  },
  "DELETE /api/delete": {
    summary: "Remove a downloaded model, in Ollama's API",
    description: "As `svc rm` does, only for callers on this machine; not for a model that this server serves.",
    answers: { 200: "The model is removed; the body is empty." },
    errors: {
      400: badRequest,
      403: notLocal,
      404: "`model_not_found`: no such model was downloaded.",
      413: tooLarge("8 MB"),
      503: "`storage_unavailable`: its files cannot be removed, or the model is being pulled.",
    },
    example: { model: "owner/repository:Q4_K_M" },
  },
  "GET /api/tags": {
    summary: "List models, in Ollama's API",
    answers: { 200: "The available models, upstreams' included." },
  },
  "GET /api/ps": {
    summary: "List loaded models, in Ollama's API",
    answers: { 200: "The models that are loaded here." },
  },
  "GET /api/version": {
    summary: "Version, in Ollama's API",
    answers: { 200: "The level of that API, and the version of svc." },
  },
};
