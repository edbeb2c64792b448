// API description: raw completions.

import { MOST_ANSWERS } from "../../contract/completions.ts";
import { generationErrors, type Operations } from "./operation.ts";

export const completionsOperations: Operations = {
  "POST /v1/completions": {
    summary: "Continue a text",
    description: `No chat template is applied, and special tokens written out in the text are plain text. Several prompts (texts or
lists of token ids) are answered together, n answers each, in their order; ${MOST_ANSWERS} answers in all
(best_of included) are the limit.

suffix fills a gap with models that have tokens for it, else 400 \`unsupported_parameter\`. best_of generates more answers
than it returns; not for a stream. echo puts the prompt's text before the answer, and with logprobs the tokens of the
prompt before those of the answer (not in a stream): that is how evaluation harnesses score texts; max_tokens 0 gives the prompt
alone. cache_prompt false computes the whole prompt. ignore_eos, grammar, the fields for structured output and
llama.cpp's samplers work as in chat completions; n_predict and n_probs are max_tokens and logprobs by llama.cpp's names.`,
    answers: { 200: "The answers, whole or as a stream." },
    errors: generationErrors,
    example: { prompt: "Once upon a time", max_tokens: 32 },
    stream: `Each event is a text_completion with a piece of text; the last one of an answer has finish_reason, and beside it timings. Usage comes with
stream_options.include_usage, then with the timings; \`[DONE]\` ends the stream. A failure is an event with a top-level \`error\` before it.`,
  },
};
