// API description: chat completions, and how they are cancelled.

import { ProfileDetail } from "../../contract/chat.ts";
import { constraintHeader, conversationErrors, countingErrors, question, type Operations } from "./operation.ts";

export const chatOperations: Operations = {
  "POST /v1/chat/completions": {
    summary: "Answer a conversation",
    description: `\`model\` selects the model. Unknown names fall back to the loaded model, and the answer names the
model that computed it.

Fields that this server cannot honour (audio, modalities beyond text, web_search_options, moderation, custom tools) are
refused with 400 \`unsupported_parameter\`. So are fields of llama.cpp's server and of vLLM that are not supported here,
where they would have an effect. Unknown fields are ignored. frequency_penalty has an effect only on models of
upstreams. samplers may omit some of llama.cpp's samplers but cannot change their order. A prompt that does not fit the
context is refused with 400 \`context_length_exceeded\`. A max_tokens beyond the remaining context is not an error: the
answer then ends with \`length\`.

**Tools.** tool_choice \`required\` and a named function are enforced while sampling: the answer begins with a call
(with reasoning on, thoughts and text may come first). \`none\` leaves all tools out of the prompt; \`allowed_tools\`
leaves out the tools that it does not name. A function without parameters takes none: its arguments are {}. With
parallel_tool_calls false, generation ends at a second call, which is not returned. Arguments that the model leaves open
when its turn ends are closed to valid JSON; at the token limit they stay truncated and finish_reason is \`length\`.
Text that does not follow the model's call format, for example a call of an unknown tool, is returned as content. Tool
results may come in any order. functions and function_call, the older form, mean the same as tools.

**Assistant prefill.** With continue_final_message true, or add_generation_prompt false, the answer continues a last
assistant message without repeating it. Both fields true is a 400. If the last message is another one,
add_generation_prompt false leaves out the part of the prompt that begins the assistant's turn. Messages of the role
function, and function_call of assistant messages, are the older form of tool results and calls.

**Structured output.** A request may have only one of these fields: response_format (json_object, which may have a
\`schema\`, json_schema or grammar), json_schema (the schema alone), guided_json, guided_regex, guided_choice,
structured_outputs, regex, grammar (GBNF; also guided_grammar and ebnf). They are enforced while sampling, after the
reasoning. With tools beside a schema, the answer is a call or follows the schema. Parts of a schema that a grammar
cannot express are not enforced: with strict true (of the schema or a tool), the header X-Grammar-Constraints is then
\`downgraded\`. A server with --no-grammar-constraints enforces none of this for its own models: it states schemas and
required calls in the prompt, the header is \`downgraded\` for all that is strict, and grammars, regular expressions,
choices, and schemas beside raw prompts are a 400 \`unsupported_parameter\`. A Markdown fence around JSON that is not
enforced, here or by an upstream, is left out. An invalid schema is a 400 that names the place, and so is one that
refers to other documents, has a pattern that ECMA-262 does not know, or leaves no value. Of a tool without strict, only
that part is not enforced. At the token limit the JSON is truncated and finish_reason is \`length\`.

**Limits of schemas and grammars.** At each place of an answer, a schema or choice may leave at most 5,000 alternatives
open: options that have the same prefix so far. The values of an enum or choice, at most 20,000, count as alternatives
only where their texts diverge. A grammar may nest brackets 1,000 deep, have 1,000,000 elements with its repetitions
expanded, and 10,000,000 elements on all paths by which its rules begin with other rules; 5,000 alternatives may begin
at one place, and 256 consecutive parts may be optional. Rules must not be left-recursive. An answer ends where the
grammar allows no continuation, or where the grammar is so ambiguous that one token takes more than a second.

**Reasoning.** By default the model's chat template decides whether the model reasons; if the answer has to follow a
schema or grammar, reasoning is off. reasoning_effort, or reasoning.effort, turns it on or off: minimal and low mean
low, medium and high mean high, xhigh and max mean max, and none turns it off. chat_template_kwargs.enable_thinking also
turns it on or off and takes precedence. chat_template_kwargs.reasoning_effort alone does not turn it on, but templates
that always think receive it, unless the effort is none or the server runs with --no-think. Variables that other fields
set (messages, tools, add_generation_prompt) are a 400 in chat_template_kwargs. Thoughts are returned as
reasoning_content; send them back in the same field. reasoning_budget_tokens limits them. Stop sequences are matched in
the content alone, and logprobs cover the content alone.

**Images and sound** need a model with a projector (--mmproj); otherwise they are a 400 \`unsupported_media_input\`.
image_url, an object or the URL itself, takes data URLs, http(s) URLs (unless --no-media-fetch) and files under
--media-root: PNG, JPEG, WebP, GIF (first frame) and BMP of at most 20 MB and 50 megapixels. detail low, auto and high
scale the longer side down to 512, 1024 and 2048 pixels; original means high. URLs may lead to public addresses, and
with --media-fetch-private to loopback and private ones, but never to link-local and metadata addresses. An image that
cannot be fetched within 10 s and 3 redirects is a 400 \`invalid_value\`, which does not give the cause. input_audio
takes every format of POST /v1/audio/transcriptions in base64, at most 25 MB each and 30 minutes together; format and
language are ignored, except that models of upstreams get format (default: that of a data URL, or else of the content). A
request may have at most 32 images and sounds.

**Sound for models without audio input.** On a server with --transcribe-input, the transcription model transcribes
input_audio to such a model, and the text replaces the sound in the prompt. It may have up to --max-audio-mb and
--max-audio-minutes. \`language\` names the language; default: detected. The answer, or the first chunk of a stream, has
svc_transcriptions: for each sound its field, its text and its duration. Transcriptions are cached for sound that is
sent again. usage counts the prompt with the text; the recognition counts in the transcription model's metrics. Sound
without speech is a 422 \`no_speech\`.

**Images for models without image input, and documents.** On a server with --ocr-input, the text that is recognised in
images to such a model replaces the images in the prompt, with tables as Markdown. They may have every format of POST
/v1/vision/ocr, including PDF, with at most 25 MB, 4096 pixels a side and 50 pages. \`languages\` of image_url names the
languages; default: those of --ocr-language. detail low means the recognition level fast. The answer, or the first chunk
of a stream, has svc_recognitions: for each image its field, its text and its number of pages. An image without text is
not an error: the prompt then says that there is no text. Results are cached and counted like those of sound. An image
that cannot be read is a 422 \`unprocessable_media\`. Parts of type file are read in this way for every model, except
files that have only text (UTF-8, such as JSON or code), which is taken as it is, and images, which are treated like
image_url.

**Sampling.** llama.cpp's sampling fields are supported in addition to the API's: see the schema. n answers share one
computation of the prompt; with a seed, the first answer is the same as that of a request with n 1. ignore_eos and
min_tokens do not continue an answer whose grammar is complete.

seed: the same seed gives the same text, whatever else runs. -1 means random; other values are taken modulo 2^32.

**Profile.** With the header X-Svc-Profile, \`true\` or \`extended\`, the answer reports the resources that it used: in
svc_profile, or in svc_profile_extended with samples over time. Values that cannot be read are null: power needs energy
counters that the server may read (RAPL, often only root may), GPU values need NVIDIA's management library. Utilisation
and power are those of the machine and the process, including other requests. POST /v1/batch/completions takes the
header as well; other routes ignore it.

stop: a string or an array, in addition to the server's own --stop values. A stop sequence is never part of the text.

A cancelled request without \`stream\` is answered with 200, the text so far and finish_reason \`cancelled\`.`,
    answers: { 200: "The answer, whole or as a stream." },
    headers: constraintHeader,
    requestHeaders: {
      "X-Svc-Profile": {
        description:
          "Requests a report of the resources that the answer used. Upper and lower case are the same; other values are a 400.",
        schema: ProfileDetail,
      },
    },
    errors: conversationErrors,
    example: { ...question, stream: true, max_tokens: 100 },
    stream: `Each event is a chat.completion.chunk. For each choice, the chunks have the role, pieces of reasoning_content,
content and tool_calls (index, id, type and name once, then arguments as they are written), and last an empty delta with
finish_reason. Then follow usage and timings (if stream_options.include_usage is false, no usage, and the timings beside
the finish_reason), a ChatProfileEvent if requested, which has no choices, and the terminator \`[DONE]\`. A cancelled
stream lacks what would follow the finish_reason, except \`[DONE]\`. Comment lines keep a silent stream alive. A failure
after the beginning is a chunk with a top-level \`error\`, then \`[DONE]\`.`,
  },
  "POST /v1/chat/completions/input_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a chat's prompt",
    description:
      "The same number as POST /v1/chat/completions reports, including images and sound. Media that it refuses are refused here as well; a prompt that is too long is counted.",
    answers: { 200: "The number of tokens." },
    errors: countingErrors,
    example: question,
  },
  "POST /v1/chat/completions/{id}/cancel": {
    summary: "Cancel a running or waiting generation",
    description: `\`id\` is the correlation id: the X-Request-ID of the request or of its answer. The route cancels
streams, plain answers and queued requests. If two active requests have the same id, the newer one is cancelled. For a
batch (POST /v1/batch/completions), the id of the request cancels all items; that id, a colon and a custom_id cancel one
item, and so does the custom_id alone. On a server with API keys, only requests of the caller's key are cancelled.`,
    answers: {
      200: "The generation ends with finish_reason `cancelled`.",
      404: "No request with this id, of the caller's key, is running or queued.",
    },
  },
};
