// The messages convention, as the API description tells it.

import { constraintHeader, countingErrors, generationErrors, question, type Operations } from "./operation.ts";

export const messagesOperations: Operations = {
  "POST /v1/messages": {
    tag: "Generation",
    summary: "Answer a conversation, in the messages convention",
    description: `Blocks: text, image (base64 or url), document (text), tool_use, tool_result (text and images; is_error puts a word
before it), thinking; redacted_thinking is left out. system as a string or blocks, and as messages in between: those before
the first answer join it, later ones are told in the turn that they follow. A user's turns in a row are one turn to the
model. A last turn of the assistant is the beginning of the answer, which goes on from there without repeating it.
cache_control, metadata, anthropic-beta headers and what else is unknown have no effect; a first system line that begins with
x-anthropic-billing-header is left out of the prompt, because it changes with every request.

Tools that are of a type of their own (they would run elsewhere) are ignored. A tool with defer_loading is not told to the
model until a tool_reference in a tool_result names it, and then in that result, so that the prompt before it stays as it
was; beside a hosted tool_search tool, which finds nothing here, it is a tool like any other.

thinking enabled, adaptive and between_tools let the model think and show it, budget_tokens ends that; output_config.effort
alone lets it think without showing it. Thinking blocks have an empty signature. output_config.format is enforced like a
strict schema. stop_reason is end_turn, tool_use, stop_sequence, max_tokens or model_context_window_exceeded; a cancelled
message ends with end_turn.

output_format, the older place of output_config.format, means the same. Conversations are held by clients: thread is refused
with 400, in the words by which the convention's SDKs know to send the whole conversation.

Errors are the envelope with a top-level type \`error\` and the convention's error types.`,
    answers: { 200: "The message, whole or as a stream." },
    headers: {
      "Request-ID": "The same as X-Request-ID.",
      ...constraintHeader,
    },
    errors: generationErrors,
    example: { ...question, max_tokens: 100 },
    stream: `message_start, ping, then for each block content_block_start, content_block_delta as it is written and
content_block_stop, then message_delta with stop_reason and usage, and message_stop. A ping keeps a silent stream alive. A
failure is an event named error, the last one.`,
  },
  "POST /v1/messages/count_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a conversation",
    description: `With the model's own template, tools, system and images: what /v1/messages would count. Images that it would refuse
are refused here; a prompt that is too long is counted.`,
    answers: { 200: "The number of tokens." },
    headers: { "Request-ID": "The same as X-Request-ID." },
    errors: countingErrors,
    example: question,
  },
};
