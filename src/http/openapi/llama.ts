// API description: llama.cpp's own routes.

import { question, tokenizerErrors, tooLarge, unavailable, type Operations } from "./operation.ts";

const NO_MODEL = "`not_found`: the server has no model of its own.";

export const llamaOperations: Operations = {
  "POST /tokenize": {
    tag: "Compatibility",
    summary: "Token ids of a text, in llama.cpp's form",
    answers: { 200: "The token ids." },
    errors: tokenizerErrors,
    example: { content: "Hello" },
  },
  "POST /detokenize": {
    tag: "Compatibility",
    summary: "Text of token ids, in llama.cpp's form",
    answers: { 200: "The text." },
    errors: tokenizerErrors,
    example: { tokens: [265] },
  },
  "POST /apply-template": {
    tag: "Compatibility",
    summary: "The prompt that a chat completion would have",
    answers: { 200: "The rendered text; `<__media__>` stands for an image or a sound." },
    errors: { ...tokenizerErrors, 413: tooLarge("100 MB") },
    example: question,
  },
  "GET /props": {
    tag: "Compatibility",
    summary: "The loaded model and its limits, in llama.cpp's layout",
    answers: { 200: "The server's properties." },
    errors: { 404: NO_MODEL, 503: unavailable },
  },
  "GET /slots": {
    tag: "Compatibility",
    summary: "Running requests, in llama.cpp's layout",
    description:
      "One entry for each request that may run at once. Requests have no fixed slot here: the first entries are the running ones.",
    answers: { 200: "The slots." },
    errors: { 404: NO_MODEL, 503: unavailable },
  },
  "GET /lora-adapters": {
    tag: "Compatibility",
    summary: "The LoRA adapters that requests may choose, in llama.cpp's form",
    description:
      "Generation routes take them by name as `model`, and those with llama.cpp's sampling fields by number in `lora`.",
    answers: { 200: "The adapters, in the order of the server's options." },
  },
};
