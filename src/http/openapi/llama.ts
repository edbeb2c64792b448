// API description: llama.cpp's own routes.

import {
  badRequest,
  generationErrors,
  question,
  tokenizerErrors,
  tooLarge,
  unavailable,
  type Operations,
} from "./operation.ts";

const NO_MODEL = "`not_found`: the server has no model of its own.";

const completionAnswers = { 200: "The answer, of several a list; or a stream." };
const completionStream =
  "Each event is an object with a piece of the answer; the last one of each has `stop` true and all that a whole answer has but the text. Nothing ends the stream beyond that. A failure is an event with `error`.";

export const llamaOperations: Operations = {
  "POST /completion": {
    summary: "Continue a text, in llama.cpp's form",
    description: `As POST /v1/completions, but special tokens that are written out in a text count as such: what /apply-template gives can be
sent here. A model of another server, and svc-system, take a text or token ids, not both mixed. samplers may leave some out, and cannot change their order. n_keep needs --context-shift. n_discard, n_indent, n_cache_reuse, min_keep,
post_sampling_probs, adaptive_target, sse_ping_interval and media are refused with 400 \`unsupported_parameter\` where they would have an
effect. id_slot says which slot POST /slots saves afterwards, and is repeated in the answer; the prompt may begin with what any slot holds. timings of pieces are measured where the stream is written.`,
    answers: completionAnswers,
    errors: generationErrors,
    example: { prompt: "Once upon a time", n_predict: 32 },
    stream: completionStream,
  },
  "POST /infill": {
    summary: "Fill a gap in a text, in llama.cpp's form",
    description:
      "Needs a model with tokens for filling gaps, else 400 `unsupported_parameter`. input_extra are other files that the model reads before; they are not cut to fit. All other fields are those of /completion.",
    answers: completionAnswers,
    errors: generationErrors,
    example: { input_prefix: "def add(a, b):\n    ", input_suffix: "\n", n_predict: 16 },
    stream: completionStream,
  },
  "POST /tokenize": {
    summary: "Token ids of a text, in llama.cpp's or vLLM's form",
    description:
      "With content, as llama.cpp has it. With prompt, as vLLM has it and POST /v1/tokenize answers; only here, special tokens that are written out in the text count as such, and add_special_tokens is true by default.",
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
      "With /tokenize and /detokenize it is all that lm-eval needs to make a model's own tokens without a tokenizer from Hugging Face.",
    answers: {
      200: "The tokens that begin and end a text, and the template's Jinja source; null where the model has none.",
    },
    errors: { 404: NO_MODEL, 503: unavailable },
  },
  "POST /apply-template": {
    summary: "The prompt that a chat completion would have",
    answers: { 200: "The rendered text; `<__media__>` stands for an image or a sound." },
    errors: { ...tokenizerErrors, 413: tooLarge("100 MB") },
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
      "One entry for each request that may run at once. Requests run in no fixed slot here: the first entries are the running ones. POST /slots saves and restores. With ?fail_on_no_slot=1, 503 `server_busy` while all are running.",
    answers: { 200: "The slots." },
    errors: { 404: NO_MODEL, 503: unavailable },
  },
  "POST /lora-adapters": {
    summary: "Set the LoRA adapters of requests that choose none, in llama.cpp's form",
    description:
      "Those that are left out are off. Only for callers on this machine, until the server stops. Requests that are computed go on as they were.",
    answers: { 200: "They are set." },
    errors: {
      400: badRequest,
      403: "`forbidden_host`: the server listens beyond loopback, or was addressed by a name of --allowed-host.",
      413: tooLarge("1 MB"),
    },
    example: [],
  },
  "GET /lora-adapters": {
    summary: "The LoRA adapters that requests may choose, in llama.cpp's form",
    description:
      "Generation routes take them by name as `model`, and those with llama.cpp's sampling fields by number in `lora`.",
    answers: { 200: "The adapters, in the order of the server's options." },
  },
};
