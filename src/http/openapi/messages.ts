// API description: the Anthropic-compatible Messages API.

import { constraintHeader, countingErrors, picturesErrors, question, type Operations } from "./operation.ts";

export const messagesOperations: Operations = {
  "POST /v1/messages": {
    summary: "Answer a conversation (Anthropic-compatible Messages API)",
    description: `Blocks: text, image (base64 or url), document (text; with --ocr-input also base64 or url),
search_result (its title, source and text), tool_use, tool_result (text, images, documents and search results; is_error
is marked in its text), thinking; redacted_thinking, and calls of server tools with their results, are ignored. system
is a string or blocks. System messages may also stand between other messages: those before the first answer are joined
to system, later ones become part of the turn that they follow. Consecutive turns of the user are one turn to the model.
A last turn of the assistant is an assistant prefill: the answer continues it without repeating it. cache_control,
metadata, anthropic-beta headers and unknown fields have no effect. A first line of a system text that begins with
x-anthropic-billing-header is left out of the prompt, because it changes with every request.

Vendor tools, which have a type of their own (web search, bash and others), are ignored beside other tools. Without
others, or if tool_choice names one, they are a 400 \`unsupported_parameter\`, as the model would invent their results.
A tool with defer_loading is hidden from the model until a tool_reference in a tool_result names it. It is then
described in that result, so that the prompt before it does not change. Beside Anthropic's tool_search tool, which finds
nothing here, a tool with defer_loading is an ordinary tool.

thinking enabled, adaptive and between_tools turn thinking on and return the thoughts; budget_tokens limits them.
output_config.effort alone does not turn thinking on, but templates that always think receive it. Thinking blocks have
an empty signature. output_config.format is enforced like a strict schema. chat_template_kwargs are as for POST
/v1/chat/completions. stop_reason is end_turn, tool_use, stop_sequence, max_tokens, model_context_window_exceeded or, for
a model whose upstream filtered the message, refusal; a cancelled message ends with end_turn. With max_tokens 0, the
prompt is computed, so that later requests find it in the cache; the message has no content and stop_reason max_tokens.

output_format, the older place of output_config.format, means the same. Conversations are not stored: thread is a 400,
with the wording that makes the API's SDKs send the whole conversation.

On a server with --ocr-input, the text in images to a model without image input, also in tool results, is recognised as
described for POST /v1/chat/completions, and the message has svc_recognitions.

Errors have the envelope with a top-level type \`error\` and the API's error types.`,
    answers: { 200: "The message, whole or as a stream." },
    headers: {
      "Request-ID": "The same as X-Request-ID.",
      ...constraintHeader,
    },
    errors: picturesErrors,
    example: { ...question, max_tokens: 100 },
    stream: `message_start, ping, then for each block content_block_start, content_block_delta as it is written and
content_block_stop, then message_delta with stop_reason and usage, and message_stop. Pings keep a silent stream alive.
If the answer fails, the last event is named error.`,
  },
  "POST /v1/messages/count_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a conversation",
    description: `The same number as /v1/messages reports, including the chat template, tools, system and images. Images
that it refuses are refused here as well; a prompt that is too long is counted.`,
    answers: { 200: "The number of tokens." },
    headers: { "Request-ID": "The same as X-Request-ID." },
    errors: countingErrors,
    example: question,
  },
};
