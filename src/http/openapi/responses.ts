// The responses convention, as the API description tells it.

import { badRequest, constraintHeader, countingErrors, generationErrors, type Operations } from "./operation.ts";

const NOT_STORED = "previous_response_id, or an item_reference, names what is not stored.";

export const responsesOperations: Operations = {
  "POST /v1/responses": {
    tag: "Generation",
    summary: "Answer, in the responses convention",
    description: `Input is a string or items: messages (input_text, output_text, input_image, input_audio, input_file of text), function_call,
function_call_output, reasoning, item_reference to an item of a stored answer (its type may be left out, and a second one to
the same item adds nothing). instructions are a system message of this turn alone. A user's turns in a row are one turn to
the model; a system message after the first answer is told in the turn that it follows.

Tools are functions, alone or in namespaces: the model knows one of those as namespace__name, and its calls carry both names
apart. Items and tools of types that would run elsewhere (web_search and others) are ignored, as agents send them.

Answers are kept (unless store is false) in memory, up to --stored-responses, and lost when the server ends.
previous_response_id goes on from one, its whole conversation included; 404 when it is gone. background answers at once with
\`in_progress\`; fetch the result by its id. With stream as well, the answer goes on when the client leaves, and its events
are kept with it: GET with stream takes them up again. Stored prompts and conversations are refused by name.
truncation is echoed: a prompt that does not fit is always a 400.

Output items come in the order of their making; reasoning as summary events. text.format is strict unless it says no.
log probabilities come with top_logprobs, or with include of message.output_text.logprobs. A cancelled answer has status
\`cancelled\`.`,
    answers: { 200: "The response, whole or as a stream." },
    headers: constraintHeader,
    errors: {
      ...generationErrors,
      404: `\`not_found\`: ${NOT_STORED} ${generationErrors[404]}`,
    },
    example: { input: "What is the capital of France?" },
    stream: `Semantic events with \`event:\` lines and sequence_number from 0: response.created, response.in_progress, for each item
response.output_item.added, its parts and deltas as they are written, response.output_item.done, then exactly one of
response.completed, response.incomplete and response.failed with the whole resource, and \`[DONE]\`.`,
  },
  "POST /v1/responses/input_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a response's prompt",
    description: `What POST /v1/responses would count, earlier turns, images and sound included. Media that it would refuse are refused
here; a prompt that is too long is counted.`,
    answers: { 200: "The number of tokens." },
    errors: { ...countingErrors, 404: `\`not_found\`: ${NOT_STORED} ${countingErrors[404]}` },
    example: { input: "What is the capital of France?" },
  },
  "GET /v1/responses/{id}": {
    tag: "Generation",
    summary: "Fetch a stored response",
    description: `Also one that is still being made: its status is then \`in_progress\`. Query: stream (true: the events of a response
that was made with background and stream, the past and the coming ones), starting_after (the sequence_number of the last
event that is not wanted again).`,
    answers: { 200: "The response." },
    errors: { 400: badRequest, 404: "It is not stored." },
    stream: "The events as POST /v1/responses tells them, with their numbers, then `[DONE]`.",
  },
  "DELETE /v1/responses/{id}": {
    tag: "Generation",
    summary: "Delete a stored response",
    description: "One that is still being made is ended.",
    answers: { 200: "It is deleted." },
    errors: { 404: "It is not stored." },
  },
  "POST /v1/responses/{id}/cancel": {
    tag: "Generation",
    summary: "Cancel a response that is being made",
    description: "Answers with the response when it has ended. One that has ended before stays as it is.",
    answers: { 200: "The response." },
    errors: { 404: "It is not stored." },
  },
  "GET /v1/responses/{id}/input_items": {
    tag: "Generation",
    summary: "List the input of a stored response",
    description: "Query: limit (1 to 100, default 20), order (asc or desc, the default), after (an item's id).",
    answers: { 200: "One page of items." },
    errors: { 400: badRequest, 404: "It is not stored." },
  },
};
