// API description: the OpenAI-compatible Responses API.

import { badRequest, constraintHeader, countingErrors, conversationErrors, type Operations } from "./operation.ts";

const NOT_STORED = "previous_response_id, conversation or an item_reference is not stored.";

export const responsesOperations: Operations = {
  "POST /v1/responses": {
    summary: "Answer (OpenAI-compatible Responses API)",
    description: `Input is a string or items: messages (input_text, output_text, input_image, input_audio, input_file), function_call,
function_call_output, reasoning, item_reference to an item of a stored response (its type is optional, and repeated references
to one item add nothing). On a server with --transcribe-input, input_audio ({data, language}) to a model that cannot hear is
transcribed, and with --ocr-input the text in input_image ({image_url, languages}) to one that cannot see is read, and input_file ({file_data, filename} or
{file_url}) to any unless it is text, as POST /v1/chat/completions describes
it; the response has svc_transcriptions and svc_recognitions. instructions are a system message of this turn alone. Consecutive turns of the user are one turn to
the model; a system message after the first answer becomes part of the turn that it follows.

Tools are functions, alone or in namespaces: the model sees the latter as namespace__name, and its calls have both names
separately. Items and tools of hosted types (web_search and others), which agents send, are ignored; items of unknown types are
400. text.verbosity is echoed and has no effect.

Responses are stored (unless store is false) in memory, up to --stored-responses, and lost when the server ends.
previous_response_id continues a stored response, with its whole conversation, and conversation goes on from one of
/v1/conversations; 404 when it is gone. background answers at once
with \`in_progress\`; fetch the result by its id. With stream as well, generation continues when the client disconnects, and
its events are stored: GET with stream resumes them. Stored prompts are refused by name.
truncation is echoed: a prompt that does not fit is always a 400.

Output items are in the order of their generation; reasoning has summary events. text.format is strict unless strict is false;
grammar, structured_outputs and the other fields of POST /v1/chat/completions for the form of answers are taken in its place, and
stop as there. vLLM's fields that are not served are refused with 400 \`unsupported_parameter\` where they would have an effect.
Log probabilities need top_logprobs, or include with message.output_text.logprobs. A cancelled response has status
\`cancelled\`.`,
    answers: { 200: "The response, whole or as a stream." },
    headers: constraintHeader,
    errors: {
      ...conversationErrors,
      404: `\`not_found\`: ${NOT_STORED} ${conversationErrors[404]}`,
    },
    example: { input: "What is the capital of France?" },
    stream: `Semantic events with \`event:\` lines and sequence_number from 0: response.created, response.in_progress, for each item
response.output_item.added, its parts and deltas as they are written, response.output_item.done, then exactly one of
response.completed, response.incomplete and response.failed with the whole resource, and \`[DONE]\`.`,
  },
  "POST /v1/responses/input_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a response's prompt",
    description: `The same number as POST /v1/responses reports, earlier turns, images and sound included. Media that it refuses are
refused here; a prompt that is too long is counted.`,
    answers: { 200: "The number of tokens." },
    errors: { ...countingErrors, 404: `\`not_found\`: ${NOT_STORED} ${countingErrors[404]}` },
    example: { input: "What is the capital of France?" },
  },
  "POST /v1/responses/compact": {
    summary: "Make a conversation short",
    description: `The model sums up the conversation that the same fields of POST /v1/responses would have it answer. The item of the
output stands for all of it in a later input; its content is the summary, in base64, and is not encrypted. Nothing is stored.`,
    answers: { 200: "The item." },
    errors: { ...conversationErrors, 404: `\`not_found\`: ${NOT_STORED} ${conversationErrors[404]}` },
    queued: true,
    example: { input: "What is the capital of France?" },
  },
  "GET /v1/responses/{id}": {
    summary: "Fetch a stored response",
    description: `Also while it is generated: its status is then \`in_progress\`. Query: stream (true: all events, past and future, of a
response that was created with background and stream), starting_after (the sequence_number after which events are
returned).`,
    answers: { 200: "The response." },
    errors: { 400: badRequest, 404: "No response with this id is stored." },
    stream: "The events as POST /v1/responses sends them, with their numbers, then `[DONE]`.",
  },
  "DELETE /v1/responses/{id}": {
    summary: "Delete a stored response",
    description: "A response that is in progress is cancelled.",
    answers: { 200: "The response is deleted." },
    errors: { 404: "No response with this id is stored." },
  },
  "POST /v1/responses/{id}/cancel": {
    summary: "Cancel a response in progress",
    description: "Answers with the response once it has ended. A response that had already ended is not changed.",
    answers: { 200: "The response." },
    errors: { 404: "No response with this id is stored." },
  },
  "GET /v1/responses/{id}/input_items": {
    summary: "List the input of a stored response",
    description: "Query: limit (1 to 100, default 20), order (asc or desc, the default), after (an item's id).",
    answers: { 200: "One page of items." },
    errors: { 400: badRequest, 404: "No response with this id is stored." },
  },
};
