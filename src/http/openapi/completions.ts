// API description: raw completions.

import { MOST_ANSWERS } from "../../contract/completions.ts";
import { constraintHeader, generationErrors, type Operations } from "./operation.ts";

export const completionsOperations: Operations = {
  "POST /v1/completions": {
    summary: "Continue a text",
    description: `No chat template is applied, and special tokens written out in the text are plain text. Several
prompts (texts or lists of token ids) are answered together, with n answers each, in their order. A request may have at
most ${MOST_ANSWERS} answers in all, including those of best_of.

suffix fills a gap, with models that have tokens for it; with other models it is a 400 \`unsupported_parameter\`.
best_of generates more answers than it returns; it cannot be used with stream. echo puts the prompt's text before the
answer and, with logprobs, the tokens of the prompt before those of the answer (not in a stream): evaluation harnesses
score texts in this way. max_tokens 0 returns the prompt alone. cache_prompt false computes the whole prompt.
ignore_eos, grammar, the fields for structured output and llama.cpp's samplers work as in chat completions; n_predict
and n_probs are llama.cpp's names for max_tokens and logprobs.`,
    answers: { 200: "The answers, whole or as a stream." },
    headers: constraintHeader,
    errors: generationErrors,
    example: { prompt: "Once upon a time", max_tokens: 32 },
    stream: `Each event is a text_completion with a piece of text; the last event of an answer has finish_reason and
timings. With stream_options.include_usage, usage and timings come in an event of their own instead, which a cancelled
stream lacks. \`[DONE]\` ends the stream. A failure is an event with a top-level \`error\` before \`[DONE]\`.`,
  },
};
