// What the API description says about each route beyond its schemas. One entry a route: a test compares both ways.

import { ProfileDetail } from "../contract/chat.ts";

export interface Operation {
  readonly tag: "Generation" | "Models" | "Tokenizer" | "Operations" | "Conveniences";
  readonly summary: string;
  readonly description?: string;
  /** Descriptions of the answers whose schema the route gives. */
  readonly answers: Readonly<Record<number, string>>;
  /** Error statuses with when they come; each body is the error envelope. */
  readonly errors?: Readonly<Record<number, string>>;
  /** Headers that the request may carry beyond those of every request. */
  readonly requestHeaders?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
  /** Headers of the 200 answer beyond those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A request body that works as it is. */
  readonly example?: unknown;
  /** The route can answer with server-sent events: what they are. */
  readonly stream?: string;
}

/** What holds on every route. */
export const commonRules = `Local AI models behind one HTTP server. No key is needed; nothing leaves the machine.

**Request ids.** Every answer carries X-Request-ID and, with the same value, Compat-Request-ID: the id that the request
sent under either name (1 to 128 visible ASCII characters), else a new one. It is the handle for cancelling.

**Errors** have the body \`{"error": {message, type, param, code, request_id}}\`. The message names fields, limits, sizes
and types, and never repeats text out of a request. Beside what each route lists: 404 \`not_found\` for an unknown path, 405
\`method_not_allowed\` with an Allow header, 403 \`forbidden_origin\` for pages of foreign origins and
\`forbidden_host\` for foreign host names on a loopback address. A 5xx that would only fail again carries
\`x-should-retry: false\`.

**Bodies** are JSON in UTF-8 with Content-Type application/json or none; another type is 400
\`unsupported_media_type\`. A field that is null counts as absent.`;

const badRequest = "Invalid input; `code` and `param` say what and where.";
const tooLarge = (limit: string) => `The request body is larger than ${limit}; it is refused while it is read.`;
const tokenizer = {
  400: badRequest,
  413: tooLarge("8 MB"),
  422: "`tokenize_unsupported`: the model in use has no tokenizer.",
};
const unavailable =
  "`server_busy`: the queue is full. `engine_unavailable`: the model is loading for too long or its engine is down. Retry-After tells in whole seconds when to try again.";
const crashed = "`engine_crashed`: the engine process ended while it computed this request; it is restarted.";
const question = { messages: [{ role: "user", content: "What is the capital of France?" }] };

const ollamaErrors = { 400: badRequest, 413: tooLarge("100 MB"), 503: unavailable };

export const operations: Readonly<Record<string, Operation>> = {
  "POST /v1/chat/completions": {
    tag: "Generation",
    summary: "Answer a conversation",
    description: `The loaded model answers whatever \`model\` says, and the answer names it.

Fields that this server cannot honour (audio, modalities beyond text, web_search_options, moderation, custom tools) are
refused with 400 \`unsupported_parameter\`. Unknown fields are ignored. frequency_penalty is parsed and ignored.
A prompt that does not fit the context is refused with 400 \`context_length_exceeded\`; a max_tokens beyond the room left is
not an error, the answer then ends with \`length\`.

**Tools.** tool_choice \`required\` and a named function are enforced while sampling: the answer begins with a call (with
reasoning on, thoughts and text may come first). \`none\` leaves the tools out of the prompt. parallel_tool_calls false: the
second call ends the answer and is not told. Arguments that the model leaves open when its turn ends are closed to valid
JSON; at the token limit they stay cut and finish_reason is \`length\`. Text that does not follow the model's call format, an
unknown tool's name for one, comes as content. Results may come in any order; functions and function_call, the older form,
mean the same as tools.

**Structured output.** response_format json_object and json_schema, and grammar (GBNF), are enforced while sampling, after
the reasoning. With tools beside a schema the answer is a call or follows the schema. What a grammar cannot express is left
out of the enforcement: with strict true (of the schema or a tool) the header X-Grammar-Constraints then says
\`downgraded\`; so it does where the server runs with --no-grammar-constraints, which puts the schema into the prompt
instead. A schema that is none, or has references beyond itself, is a 400 that names the place. At the token limit the
JSON is cut and finish_reason is \`length\`.

**Reasoning** is off unless asked for: reasoning_effort (minimal and low mean low, medium and high high, xhigh and max max;
none off) or chat_template_kwargs.enable_thinking, whose false wins. Thoughts come as reasoning_content and go back the
same way. reasoning_budget_tokens ends them. stop sequences are matched in the content alone; logprobs cover the content.

**Images and sound** need a model with a projector (--mmproj), else 400 \`unsupported_media_input\`. image_url takes data
URLs, http(s) URLs (unless --no-media-fetch) and files under --media-root: PNG, JPEG, WebP, GIF (first frame) and BMP of at
most 20 MB and 50 megapixels; detail low, auto and high bring the longer side down to 512, 1024 and 2048 pixels.
input_audio takes WAV, MP3 and FLAC in base64, at most 25 MB and 30 minutes; language is ignored. At most 32 a request.

**Sampling.** Beside the convention's fields llama.cpp's own are honoured: see the schema. n answers share one computation
of the prompt; with a seed, the first is what a request for one gets. ignore_eos and min_tokens yield to a grammar that is
complete.

seed: the same seed gives the same text whatever else runs; -1 means random; other values are folded into 32 bits.

**Profile.** With the header X-Svc-Profile, \`true\` or \`extended\`, the answer tells what it cost the machine:
svc_profile, or svc_profile_extended with samples over time. What cannot be read is null: power needs energy counters that
the server may read (RAPL, often root alone), GPU values NVIDIA's management library. Utilisation and power are the
machine's and the process's, so other requests are in them. Other routes ignore the header.

stop: a string or an array, after the server's own --stop values; never part of the text.

A cancelled request that was not a stream answers 200 with what there is and finish_reason \`cancelled\`.`,
    answers: { 200: "The answer, whole or as a stream." },
    headers: {
      "X-Grammar-Constraints":
        "`downgraded` when strict was asked for and is not enforced, or not all of it; else absent.",
    },
    requestHeaders: {
      "X-Svc-Profile": {
        description: "Asks what the answer cost the machine; upper or lower case. Another value is a 400.",
        schema: ProfileDetail,
      },
    },
    errors: { 400: badRequest, 413: tooLarge("100 MB"), 500: crashed, 503: unavailable },
    example: { ...question, stream: true, max_tokens: 100 },
    stream: `Each event is a chat.completion.chunk: the role, pieces of reasoning_content, content and tool_calls (index, id, type and
name once, then arguments as they are written), an empty delta with finish_reason, all of it for each choice; usage (unless
stream_options.include_usage is false), a ChatProfileEvent if asked for, which has no choices, and the terminator \`[DONE]\`. A comment line keeps a silent stream alive. A failure
after the beginning is a chunk with a top-level \`error\`, then \`[DONE]\`.`,
  },
  "POST /v1/responses": {
    tag: "Generation",
    summary: "Answer, in the responses convention",
    description: `Input is a string or items: messages (input_text, output_text, input_image, input_audio, input_file of text), function_call,
function_call_output, reasoning, item_reference to an item of a stored answer. instructions are a system message of this
turn alone. A user's turns in a row are one turn to the model; a system message after the first answer is told in the turn
that it follows.

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
    headers: {
      "X-Grammar-Constraints":
        "`downgraded` when strict was asked for and is not enforced, or not all of it; else absent.",
    },
    errors: {
      400: badRequest,
      404: "previous_response_id, or an item_reference, names what is not stored.",
      413: tooLarge("100 MB"),
      500: crashed,
      503: unavailable,
    },
    example: { input: "What is the capital of France?" },
    stream: `Semantic events with \`event:\` lines and sequence_number from 0: response.created, response.in_progress, for each item
response.output_item.added, its parts and deltas as they are written, response.output_item.done, then exactly one of
response.completed, response.incomplete and response.failed with the whole resource, and \`[DONE]\`.`,
  },
  "POST /v1/responses/input_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a response's prompt",
    answers: { 200: "The number of tokens." },
    errors: { 400: badRequest, 404: "previous_response_id is not stored.", 413: tooLarge("100 MB"), 503: unavailable },
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
      "X-Grammar-Constraints":
        "`downgraded` when strict was asked for and is not enforced, or not all of it; else absent.",
    },
    errors: { 400: badRequest, 413: tooLarge("100 MB"), 500: crashed, 503: unavailable },
    example: { ...question, max_tokens: 100 },
    stream: `message_start, ping, then for each block content_block_start, content_block_delta as it is written and
content_block_stop, then message_delta with stop_reason and usage, and message_stop. A ping keeps a silent stream alive. A
failure is an event named error, the last one.`,
  },
  "POST /v1/messages/count_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a conversation",
    description: "With the model's own template, tools, system and images: what /v1/messages would count.",
    answers: { 200: "The number of tokens." },
    headers: { "Request-ID": "The same as X-Request-ID." },
    errors: { 400: badRequest, 413: tooLarge("100 MB"), 503: unavailable },
    example: question,
  },
  "POST /v1/completions": {
    tag: "Generation",
    summary: "Continue a text",
    description: `No chat template is applied, and special tokens written out in the text are plain text. Several prompts (texts or
lists of token ids) are answered together, n answers each, in their order.

suffix fills a gap with models that have tokens for it, else 400 \`unsupported_parameter\`. best_of makes more answers than
it gives; not for a stream. echo puts the prompt's text before the answer; log probabilities of the prompt are not
computed, so not together with logprobs. ignore_eos, grammar and llama.cpp's samplers work as in chat completions.`,
    answers: { 200: "The answers, whole or as a stream." },
    errors: { 400: badRequest, 413: tooLarge("100 MB"), 500: crashed, 503: unavailable },
    example: { prompt: "Once upon a time", max_tokens: 32 },
    stream: `Each event is a text_completion with a piece of text; the last one of an answer has finish_reason. Usage comes with
stream_options.include_usage; \`[DONE]\` ends the stream. A failure is an event with a top-level \`error\` before it.`,
  },
  "POST /v1/chat/completions/{id}/cancel": {
    tag: "Generation",
    summary: "Cancel a running or waiting generation",
    description: `\`id\` is the correlation id: what the request sent as X-Request-ID, or what its answer carries there. It works for
streams, plain answers and requests that still wait. Of two live requests with one id the newer is cancelled.`,
    answers: {
      200: "It ends now, with finish_reason `cancelled`.",
      404: "Nothing with this id is running or waiting.",
    },
  },
  "GET /v1/models": {
    tag: "Models",
    summary: "List the models that can be asked",
    description:
      "`loaded` is false while the model is loading; requests wait for it. The context length is given under every name that clients look for.",
    answers: { 200: "The models that can be asked." },
  },
  "GET /v1/models/{id}": {
    tag: "Models",
    summary: "Describe a model by its name",
    description: "The entry of the list. Other routes answer whatever model a request names; this one does not.",
    answers: { 200: "The model." },
    errors: { 404: "No model of this name is served." },
  },
  "POST /v1/tokenize": {
    tag: "Tokenizer",
    summary: "Token ids of a text",
    description:
      "The loaded model's own tokenizer, without a chat template; special tokens in the text are plain text here and none are added. While the model is loading the request waits.",
    answers: { 200: "The token ids." },
    errors: { ...tokenizer, 503: unavailable },
    example: { text: "Hello" },
  },
  "POST /v1/count_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a text",
    answers: { 200: "The number of tokens." },
    errors: { ...tokenizer, 503: unavailable },
    example: { text: "Hello" },
  },
  "POST /v1/detokenize": {
    tag: "Tokenizer",
    summary: "Text of token ids",
    description:
      "Control tokens are written out. The text comes under the names that clients of several servers look for.",
    answers: { 200: "The text." },
    errors: { ...tokenizer, 503: unavailable },
    example: { tokens: [265] },
  },
  "POST /tokenize": {
    tag: "Conveniences",
    summary: "Token ids of a text, in llama.cpp's form",
    answers: { 200: "The token ids." },
    errors: { ...tokenizer, 503: unavailable },
    example: { content: "Hello" },
  },
  "POST /detokenize": {
    tag: "Conveniences",
    summary: "Text of token ids, in llama.cpp's form",
    answers: { 200: "The text." },
    errors: { ...tokenizer, 503: unavailable },
    example: { tokens: [265] },
  },
  "POST /apply-template": {
    tag: "Conveniences",
    summary: "The prompt that a chat completion would have",
    answers: { 200: "The rendered text; `<__media__>` stands for an image or a sound." },
    errors: { 400: badRequest, 413: tooLarge("100 MB"), 503: unavailable },
    example: question,
  },
  "GET /props": {
    tag: "Conveniences",
    summary: "The loaded model and its limits, in llama.cpp's layout",
    answers: { 200: "What is known of the server." },
    errors: { 503: unavailable },
  },
  "GET /slots": {
    tag: "Conveniences",
    summary: "Who runs, in llama.cpp's layout",
    description:
      "One entry for each request that may run at once. Requests are not tied to places here: the first entries run.",
    answers: { 200: "The places." },
    errors: { 503: unavailable },
  },
  "GET /lora-adapters": {
    tag: "Conveniences",
    summary: "The LoRA adapters that requests may choose, in llama.cpp's form",
    description:
      "Generation routes take them by name as `model`, and those with llama.cpp's sampling fields by number in `lora`.",
    answers: { 200: "The adapters, in the order in which the server was given them." },
  },
  "POST /api/chat": {
    tag: "Conveniences",
    summary: "Answer a conversation, in Ollama's API",
    description: `For tools that know no other; off with --no-conveniences. Streams unless \`stream\` is false. format is json or a schema,
enforced while sampling. think is a boolean or a level; thinking is off unless asked for. keep_alive and options without a
meaning here have no effect. Errors are \`{"error": "…"}\`.`,
    answers: { 200: "The answer, whole or as a stream." },
    errors: ollamaErrors,
    example: { ...question, stream: false },
    stream:
      "Lines of JSON (application/x-ndjson); the last has `done` true, the counts and the durations in nanoseconds.",
  },
  "POST /api/generate": {
    tag: "Conveniences",
    summary: "Answer a prompt, in Ollama's API",
    description:
      "With raw or suffix the prompt is continued as it is; else it is a user's message. No prompt: is the model there.",
    answers: { 200: "The answer, whole or as a stream." },
    errors: ollamaErrors,
    example: { prompt: "What is the capital of France?", stream: false },
    stream: "Lines of JSON (application/x-ndjson), as for /api/chat.",
  },
  "POST /api/show": {
    tag: "Conveniences",
    summary: "Describe the loaded model, in Ollama's API",
    answers: { 200: "What the model is and can do." },
    errors: ollamaErrors,
    example: { model: "svc-mini" },
  },
  "GET /api/tags": {
    tag: "Conveniences",
    summary: "List models, in Ollama's API",
    answers: { 200: "The loaded model; an empty list while it loads." },
  },
  "GET /api/ps": {
    tag: "Conveniences",
    summary: "List loaded models, in Ollama's API",
    answers: { 200: "The loaded model; an empty list while it loads." },
  },
  "GET /api/version": {
    tag: "Conveniences",
    summary: "Version, in Ollama's API",
    answers: { 200: "The version of svc." },
  },
  "GET /health": {
    tag: "Operations",
    summary: "Is the server up, and how is its engine",
    description:
      "200 while the process answers. `status`: healthy, loading (requests wait) or degraded (requests get 503).",
    answers: { 200: "The process answers." },
  },
  "GET /metrics": {
    tag: "Operations",
    summary: "Prometheus metrics",
    description: "Names follow vLLM behind the prefix `svc_`.",
    answers: { 200: "Prometheus text exposition, version 0.0.4." },
  },
  "GET /openapi.json": {
    tag: "Operations",
    summary: "This description",
    answers: { 200: "An OpenAPI 3.1 document." },
  },
  "GET /docs": {
    tag: "Operations",
    summary: "This description as a page",
    description:
      "Complete without any script; a button loads an interactive reference from a content delivery network.",
    answers: { 200: "An HTML page." },
  },
};
