// API description: the tokenizer.

import { tokenizerErrors, type Operations } from "./operation.ts";

export const tokenizeOperations: Operations = {
  "POST /v1/tokenize": {
    summary: "Token ids of a text",
    description:
      "Uses the loaded model's own tokenizer, without a chat template. Special tokens in the text are plain text. The tokens that begin and end a text are added, as for POST /v1/completions, unless add_special_tokens is false. While the model is loading, the request waits.",
    answers: { 200: "The token ids." },
    errors: tokenizerErrors,
    example: { text: "Hello" },
  },
  "POST /v1/count_tokens": {
    summary: "Number of tokens of a text",
    description: "The number that POST /v1/tokenize returns; for a prompt of POST /v1/completions, that of its usage.",
    answers: { 200: "The number of tokens." },
    errors: tokenizerErrors,
    example: { text: "Hello" },
  },
  "POST /v1/detokenize": {
    summary: "Text of token ids",
    description: "Control tokens are written out. The text is returned under every name that clients look for.",
    answers: { 200: "The text." },
    errors: tokenizerErrors,
    example: { tokens: [265] },
  },
};
