// API description: the OpenAI-compatible Responses API.

import {
  badRequest,
  constraintHeader,
  countingErrors,
  conversationErrors,
  pageQuery,
  type Operations,
} from "./operation.ts";

const NOT_STORED = "what previous_response_id, conversation or an item_reference names is not stored.";
const NOT_TO_END = "No response with this id is stored, or it is in progress for another API key.";

export const responsesOperations: Operations = {
  "POST /v1/responses": {
    summary: "Answer (OpenAI-compatible Responses API)",
    description: `Input is a string or items: messages (input_text, output_text, input_image, input_audio, input_file),
agent_message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, reasoning, and
item_reference, which names an item of a stored response (its type is optional; repeated references to one item add
nothing). instructions are a system message of this turn alone. Consecutive turns of the user, and messages of other
agents, are one turn to the model; a system message after the first answer becomes part of the turn that it follows.

On a server with --transcribe-input, input_audio ({data, format, language}, or a data: URL in audio_url) to a model
without audio input is transcribed. On a server with --ocr-input, the text in input_image ({image_url, languages}) to a
model without image input is recognised, and so is that in an input_file ({file_data, filename} or {file_url}) to any
model, unless the file is text. POST /v1/chat/completions describes both; the response has svc_transcriptions and
svc_recognitions.

Tools are functions and custom tools, alone or in namespaces. The model sees a tool of a namespace as namespace__name;
its calls have both names separately. To the model, a custom tool is a function with one string. Its format is enforced
if it is a regular expression of ECMA-262; another grammar is only described to the model, and X-Grammar-Constraints
says so. Items of the types additional_tools and tool_search_output may add tools. Vendor tools, which have a type of
their own (web_search, shell and others), are ignored beside others, and so are their items. Without others, or if
tool_choice names one, they are a 400 \`unsupported_parameter\`, as the model would invent their results. text.verbosity
is echoed and has no effect. Items of unknown types are a 400.

Responses are stored (unless store is false) in memory, up to --stored-responses, and are lost when the server ends.
previous_response_id continues a stored response with its whole conversation; conversation continues a conversation of
/v1/conversations. If it is no longer stored, the answer is 404. background answers at once with \`in_progress\`; fetch
the result by its id. With background and stream, generation continues when the client disconnects, and its events are
stored: GET with stream resumes them. Stored prompts (the field prompt) are refused. truncation is echoed: a prompt that
does not fit is always a 400.

Output items are in the order of their generation; reasoning has summary events. text.format is strict unless strict is
false. In place of text.format, grammar, structured_outputs and the other fields of POST /v1/chat/completions for the
form of answers are accepted; stop is as there. Fields of vLLM that are not supported are a 400
\`unsupported_parameter\` where they would have an effect. Log probabilities need top_logprobs, or include with
message.output_text.logprobs. A cancelled response has status \`cancelled\`.`,
    answers: { 200: "The response, whole or as a stream." },
    headers: constraintHeader,
    errors: {
      ...conversationErrors,
      404: `\`not_found\`: ${NOT_STORED} ${conversationErrors[404]}`,
    },
    example: { input: "What is the capital of France?" },
    stream: `Semantic events with \`event:\` lines and sequence_number from 0: response.created, response.in_progress,
for each item response.output_item.added, its parts and deltas as they are written, response.output_item.done, then
exactly one of response.completed, response.incomplete or response.failed with the whole resource, and \`[DONE]\`.`,
  },
  "POST /v1/responses/input_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a response's prompt",
    description: `The same number as POST /v1/responses reports, including earlier turns, images and sound. Media that
it refuses are refused here as well; a prompt that is too long is counted.`,
    answers: { 200: "The number of tokens." },
    errors: { ...countingErrors, 404: `\`not_found\`: ${NOT_STORED} ${countingErrors[404]}` },
    example: { input: "What is the capital of France?" },
  },
  "POST /v1/responses/compact": {
    summary: "Summarize a conversation",
    description: `The model summarizes the conversation that it would answer if the same fields were sent to POST
/v1/responses. The item in the output replaces that whole conversation in a later input. The item's content is the
summary in base64, without encryption. Nothing is stored.`,
    answers: { 200: "The item." },
    errors: { ...conversationErrors, 404: `\`not_found\`: ${NOT_STORED} ${conversationErrors[404]}` },
    queued: true,
    example: { input: "What is the capital of France?" },
  },
  "GET /v1/responses/{id}": {
    summary: "Fetch a stored response",
    description: "Also works while the response is generated: its status is then `in_progress`.",
    query: {
      stream: {
        description:
          "true: all events, past and future, of a response that was created with background and stream. Default false.",
        schema: { type: "boolean", default: false },
      },
      starting_after: {
        description: "With stream: the sequence_number after which events are returned; default: all.",
        schema: { type: "integer", minimum: 0 },
      },
    },
    answers: { 200: "The response." },
    errors: { 400: badRequest, 404: "No response with this id is stored." },
    stream: "The events as POST /v1/responses sends them, with their numbers, then `[DONE]`.",
  },
  "DELETE /v1/responses/{id}": {
    summary: "Delete a stored response",
    description: "A response that is in progress is cancelled.",
    answers: { 200: "The response is deleted." },
    errors: { 404: NOT_TO_END },
  },
  "POST /v1/responses/{id}/cancel": {
    summary: "Cancel a response in progress",
    description: `Answers with the response once it has ended; after three seconds, if its client does not read its
stream, as it is then. A response that had already ended is not changed.`,
    answers: { 200: "The response." },
    errors: { 404: NOT_TO_END },
  },
  "GET /v1/responses/{id}/input_items": {
    summary: "List the input of a stored response",
    query: pageQuery("an item"),
    answers: { 200: "One page of items." },
    errors: { 400: badRequest, 404: "No response with this id is stored." },
  },
};
