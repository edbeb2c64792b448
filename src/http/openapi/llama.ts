// API description: llama.cpp's own routes.

import {
  badRequest,
  constraintHeader,
  generationErrors,
  notLocal,
  question,
  tokenizerErrors,
  tooLarge,
  unavailable,
  type Operations,
} from "./operation.ts";

const NO_MODEL = "`not_found`: the server has no model of its own.";

const completionAnswers = { 200: "The answer, a list if there are several, or a stream." };
const completionStream =
  "Each event is an object with a piece of an answer. The last event of each answer has `stop` true and all fields of a whole answer except the text. The stream has no other terminator. A failure is an event with `error`.";

export const llamaOperations: Operations = {
  "POST /completion": {
    summary: "Continue a text, in llama.cpp's form",
    description: `Like POST /v1/completions, but special tokens that are written out in a text count as special tokens,
so that the output of /apply-template can be sent here. A model of another server, and svc-system, take a text or token
ids, but not a mixture of both. samplers may omit some of llama.cpp's samplers, but cannot change their order. infill,
as the last of them, adaptive_p without an adaptive_target, and n_indent are accepted without effect. n_keep needs
--context-shift. n_discard, n_cache_reuse, min_keep, post_sampling_probs, adaptive_target, sse_ping_interval and media
are a 400 \`unsupported_parameter\` where they would have an effect. id_slot names the slot that POST /slots can save
afterwards, and is repeated in the answer; the prompt may continue the content of any slot. timings in pieces of a
stream are measured where the stream is written.`,
    answers: completionAnswers,
    headers: constraintHeader,
    errors: generationErrors,
    example: { prompt: "Once upon a time", n_predict: 32 },
    stream: completionStream,
  },
  "POST /infill": {
    summary: "Fill a gap in a text, in llama.cpp's form",
    description:
      "Needs a model with tokens for filling gaps, else 400 `unsupported_parameter`. input_extra are other files, which come first in the prompt; they are not truncated. All other fields are those of /completion.",
    answers: completionAnswers,
    headers: constraintHeader,
    errors: generationErrors,
    example: { input_prefix: "def add(a, b):\n    ", input_suffix: "\n", n_predict: 16 },
    stream: completionStream,
  },
  "POST /tokenize": {
    summary: "Token ids of a text, in llama.cpp's or vLLM's form",
    description:
      "With content, the form of llama.cpp. With prompt, the form of vLLM: the same as POST /v1/tokenize, except that special tokens that are written out in the text count as special tokens.",
    answers: { 200: "The token ids." },
    errors: tokenizerErrors,
    example: { content: "Hello" },
  },
  "POST /detokenize": {
    summary: "Text of token ids, in llama.cpp's form",
    answers: { 200: "The text." },
    errors: tokenizerErrors,
    example: { tokens: [265] },
  },
  "GET /tokenizer_info": {
    summary: "The tokenizer's special tokens and the chat template, in vLLM's form",
    description:
      "With /tokenize and /detokenize, lm-eval needs no tokenizer from Hugging Face to use the model's own tokens.",
    answers: {
      200: "The tokens that begin and end a text, and the template's Jinja source; null where the model has none.",
    },
    errors: { 404: NO_MODEL, 503: unavailable },
  },
  "POST /apply-template": {
    summary: "Render the prompt of a chat completion",
    answers: { 200: "The rendered text; `<__media__>` stands for an image or a sound." },
    errors: { ...tokenizerErrors, 413: tooLarge("100 MiB") },
    example: question,
  },
  "GET /props": {
    summary: "The loaded model and its limits, in llama.cpp's layout",
    answers: { 200: "The server's properties." },
    errors: { 404: NO_MODEL, 503: unavailable },
  },
  "GET /slots": {
    summary: "Running requests, in llama.cpp's layout",
    description:
      "One entry for each request that may run at once. Requests have no fixed slots here: the first entries are the running requests. POST /slots saves and restores slots.",
    query: {
      fail_on_no_slot: {
        description: "1, or any other text: the answer is 503 `server_busy` while all slots are in use.",
        schema: { type: "string" },
      },
    },
    answers: { 200: "The slots." },
    errors: { 404: NO_MODEL, 503: unavailable },
  },
  "POST /lora-adapters": {
    summary: "Set the LoRA adapters of requests that select none, in llama.cpp's form",
    description:
      "Adapters that are not listed are off. Only for callers on this machine. The setting lasts until the server stops. Running requests keep their adapters.",
    answers: { 200: "The adapters are set." },
    errors: {
      400: badRequest,
      403: notLocal,
      413: tooLarge("1 MiB"),
    },
    example: [],
  },
  "GET /lora-adapters": {
    summary: "List the LoRA adapters that requests may select, in llama.cpp's form",
    description:
      "Generation routes take an adapter by its name as `model`; routes with llama.cpp's sampling fields also take it by its number in `lora`.",
    answers: { 200: "The adapters, in the order of the server's options." },
  },
};
