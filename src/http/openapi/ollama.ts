// API description: Ollama's API.

import { truncationHeaders, vectorErrors } from "./embeddings.ts";
import {
  badRequest,
  generationErrors,
  notLocal,
  picturesErrors,
  question,
  tooLarge,
  unavailable,
  type Operations,
} from "./operation.ts";

export const ollamaOperations: Operations = {
  "POST /api/chat": {
    summary: "Answer a conversation, in Ollama's API",
    description: `A compatibility API, for tools that know no other; off with --no-compatibility-apis. The answer is a
stream unless \`stream\` is false. format is json or a schema, enforced while sampling. think is a boolean or a level;
default: the model's own, and off with a format. Without a format, the answer continues a last message of the assistant
and does not repeat it, except on an upstream that cannot. Options without a meaning here have no effect. truncate true
is a 400, and so is a shift that differs from --context-shift. Errors are \`{"error": "…"}\`. With --ocr-input, the text
in images to a model without image input is recognised as described for POST /v1/chat/completions, and the last line
has svc_recognitions.`,
    answers: { 200: "The answer, whole or as a stream." },
    errors: picturesErrors,
    example: { ...question, stream: false },
    streamType: "application/x-ndjson",
    stream: "Lines of JSON; the last has `done` true, the counts and the durations in nanoseconds.",
  },
  "POST /api/generate": {
    summary: "Answer a prompt, in Ollama's API",
    description:
      "With raw or suffix the prompt is continued as it is, and with raw, special tokens that are written out in it are such tokens; otherwise it is a user's message. Without a prompt the answer only reports that the model is available, or with keep_alive 0 that it was unloaded. context, from an earlier answer, continues its conversation; answers to raw prompts have no context.",
    answers: { 200: "The answer, whole or as a stream." },
    errors: picturesErrors,
    example: { prompt: "What is the capital of France?", stream: false },
    streamType: "application/x-ndjson",
    stream: "Lines of JSON, as for /api/chat.",
  },
  "POST /api/embed": {
    summary: "Texts as vectors, in Ollama's API",
    description: "Uses the models of /v1/embeddings. options have no effect.",
    answers: { 200: "A vector for each text." },
    errors: vectorErrors,
    headers: truncationHeaders,
    queued: true,
    example: { input: ["The sky is blue.", "Grass is green."] },
  },
  "POST /api/embeddings": {
    summary: "A text as a vector, in the older form of Ollama's API",
    answers: { 200: "The vector." },
    errors: vectorErrors,
    headers: truncationHeaders,
    queued: true,
    example: { prompt: "The sky is blue." },
  },
  "POST /api/show": {
    summary: "Describe a model, in Ollama's API",
    description: "Describes the named model, or the model that answers for an unknown name.",
    answers: { 200: "The model's properties and capabilities." },
    errors: { 400: badRequest, 404: generationErrors[404], 413: tooLarge("1 MiB"), 503: unavailable },
    example: { model: "svc-mini" },
  },
  "POST /api/pull": {
    summary: "Download a model, in Ollama's API",
    description: `Downloads a repository of the hub, as \`svc pull\` does; only for callers on this machine. A server with
--pulled-models serves the model from then on; others serve the models that they were started with. The second to last
line has the model's name for requests, or the option that serves it. Disconnecting stops the download; the next
request resumes it.`,
    answers: {
      200: "Lines of this object (application/x-ndjson): updates, the bytes so far, and last the status `success`; with `stream` false only the last one.",
    },
    errors: {
      400: badRequest,
      403: notLocal,
      413: tooLarge("8 MiB"),
      502: "`download_failed`: no such model, no permission, no network or no disk space. In a stream, the last line has `error`.",
    },
    example: { model: "owner/repository:Q4_K_M" },
  },
  "DELETE /api/delete": {
    summary: "Remove a downloaded model, in Ollama's API",
    description:
      "Removes a model as `svc rm` does; only for callers on this machine. A model that an option of this server names cannot be removed; one of --pulled-models is not offered any more, and answers the requests that it has.",
    answers: { 200: "The model is removed; the body is empty." },
    errors: {
      400: badRequest,
      403: notLocal,
      404: "`model_not_found`: no such model was downloaded.",
      413: tooLarge("8 MiB"),
      503: "`storage_unavailable`: the files of the model cannot be removed, or it is being pulled.",
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
    answers: { 200: "The supported version of Ollama's API, and the version of svc." },
  },
};
