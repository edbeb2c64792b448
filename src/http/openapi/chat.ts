// API description: chat completions, and how they are cancelled.

import { ProfileDetail } from "../../contract/chat.ts";
import { constraintHeader, conversationErrors, countingErrors, question, type Operations } from "./operation.ts";

export const chatOperations: Operations = {
  "POST /v1/chat/completions": {
    summary: "Answer a conversation",
    description: `\`model\` selects the model; unknown names fall back to the loaded one, and the answer names the model that computed it.

Fields that this server cannot honour (audio, modalities beyond text, web_search_options, moderation, custom tools) are
refused with 400 \`unsupported_parameter\`. Unknown fields are ignored. frequency_penalty is parsed and ignored. Fields that llama.cpp's server or vLLM document and that are not served are refused
with 400 \`unsupported_parameter\` where they would have an effect; samplers may leave out some of llama.cpp's, in their order.
A prompt that does not fit the context is refused with 400 \`context_length_exceeded\`; a max_tokens beyond the remaining
context is not an error, the answer then ends with \`length\`.

**Tools.** tool_choice \`required\` and a named function are enforced while sampling: the answer begins with a call (with
reasoning on, thoughts and text may come first). \`none\` leaves the tools out of the prompt, \`allowed_tools\` all but those it names. A
function without parameters takes none: its arguments are {}. parallel_tool_calls false: the
second call ends the answer and is not returned. Arguments that the model leaves open when its turn ends are closed to valid
JSON; at the token limit they stay truncated and finish_reason is \`length\`. Text that does not follow the model's call
format, for example with an unknown tool's name, is returned as content. Results may come in any order; functions and
function_call, the older form, mean the same as tools.

**The answer's beginning.** continue_final_message true, or add_generation_prompt false, goes on from a last assistant message
without repeating it; both true is a 400. Behind another last message, add_generation_prompt false leaves out what tells the
model that its turn has come. function messages and function_call of assistants are the older form of tool results and calls.

**Structured output.** response_format json_object (with a \`schema\`, if it has one) and json_schema, json_schema (the schema
alone), guided_json, guided_regex, guided_choice and structured_outputs, and grammar (GBNF; also guided_grammar, and
response_format grammar), are enforced while sampling, after
the reasoning; a request has one of them. With tools beside a schema the answer is a call or follows the schema. Parts that a grammar cannot express are
not enforced: with strict true (of the schema or a tool) the header X-Grammar-Constraints is then \`downgraded\`. It is also
\`downgraded\` where the server runs with --no-grammar-constraints, which puts the schema into the prompt instead. An invalid
schema, or one with references beyond itself, is a 400 that names the place. At one place of an answer a schema, or
a choice, may leave 5,000 alternatives open: options with the same prefix so far. Values of an enum and of a choice, at most
20,000, branch where their texts part. At the token limit
the JSON is truncated and finish_reason is \`length\`. A grammar may nest brackets 1,000 deep, have 1,000,000 elements with its
repetitions expanded and 10,000,000 on all paths by which its rules begin with others; 5,000 alternatives may begin at one
place, and 256 consecutive parts be optional. Rules must not be left-recursive. An answer ends where the grammar allows no
continuation, or is so ambiguous that a token takes more than a second.

**Reasoning** is as the model's chat template has it by default, and off where the answer has to follow a schema or grammar:
reasoning_effort, or reasoning.effort (minimal and low mean low, medium and high high, xhigh and max max; none off) or
chat_template_kwargs.enable_thinking, whose false wins, turn it on or off. chat_template_kwargs.reasoning_effort alone
does not, but templates that always think see it, unless the effort is none or the server runs with --no-think. What other
fields say (messages, tools, add_generation_prompt) is 400 in chat_template_kwargs. Thoughts are
returned as reasoning_content and sent back the same way. reasoning_budget_tokens limits them. stop sequences are matched in
the content alone; logprobs cover the content.

**Images and sound** need a model with a projector (--mmproj), else 400 \`unsupported_media_input\`. image_url, an object or the url itself, takes data
URLs, http(s) URLs (unless --no-media-fetch) and files under --media-root: PNG, JPEG, WebP, GIF (first frame) and BMP of at
most 20 MB and 50 megapixels; detail low, auto and high scale the longer side down to 512, 1024 and 2048 pixels. URLs lead to
public addresses, or with --media-fetch-private to loopback and private ones, too, but never to link-local and metadata
addresses; an image that cannot be had within 10 s and 3 redirects is a 400 \`invalid_value\` without the cause.
input_audio takes WAV, MP3 and FLAC in base64, at most 25 MB and 30 minutes; language is ignored. At most 32 a request.

**Sound for models that cannot hear.** On a server with --transcribe-input, input_audio to such a model is recognised by the
transcription model, and the text takes its place in the prompt: every format of POST /v1/audio/transcriptions, as large and
long as --max-audio-mb and --max-audio-minutes allow, in the language that \`language\` names or that is detected. The answer
has svc_transcriptions, and of a stream the first chunk: for each sound its field, the text, and how long it plays. Sound that
is sent again is remembered. usage counts the prompt with the text; the transcription model's metrics count the recognition.
Sound without speech is a 422 \`no_speech\`.

**Images for models that cannot see, and documents.** On a server with --ocr-input, the text in images to such a model takes their place in the
prompt, with tables as Markdown: every format of POST /v1/vision/ocr, PDF among them, of at most 25 MB, 4096 pixels a side and 50
pages, in the \`languages\` of image_url, default those of --ocr-language; detail low is read fast. The answer has svc_recognitions, and of a stream the first chunk: for each image
its field, the text, and how many pages it has. An image without text is no error: the prompt says that there is none. Images
are remembered and counted as sound is; one that cannot be read is a 422 \`unprocessable_media\`. Parts of type file are read in
this way for any model, but for text, which is taken as it is, and for pictures, which are as image_url.

**Sampling.** Beside the API's fields llama.cpp's own are honoured: see the schema. n answers share one computation of the
prompt; with a seed, the first is what a request for one gets. ignore_eos and min_tokens yield to a grammar that is complete.

seed: the same seed gives the same text whatever else runs; -1 means random; other values are folded into 32 bits.

**Profile.** With the header X-Svc-Profile, \`true\` or \`extended\`, the answer reports the resources that it used:
svc_profile, or svc_profile_extended with samples over time. Values that cannot be read are null: power needs energy counters
that the server may read (RAPL, often root alone), GPU values NVIDIA's management library. Utilisation and power are those of
the machine and the process, other requests included. POST /v1/batch/completions takes the header as well; other routes
ignore it.

stop: a string or an array, in addition to the server's own --stop values; never part of the text.

A cancelled request that was not a stream answers 200 with the text so far and finish_reason \`cancelled\`.`,
    answers: { 200: "The answer, whole or as a stream." },
    headers: constraintHeader,
    requestHeaders: {
      "X-Svc-Profile": {
        description:
          "Requests the resources that the answer used; upper or lower case. Other values are refused with 400.",
        schema: ProfileDetail,
      },
    },
    errors: conversationErrors,
    example: { ...question, stream: true, max_tokens: 100 },
    stream: `Each event is a chat.completion.chunk: the role, pieces of reasoning_content, content and tool_calls (index, id, type and
name once, then arguments as they are written), an empty delta with finish_reason, all of it for each choice; usage and timings (unless
stream_options.include_usage is false: then the timings are beside the finish_reason), a ChatProfileEvent if requested, which has no choices, and the terminator
\`[DONE]\`. A comment line keeps a silent stream alive. A failure after the beginning is a chunk with a top-level \`error\`,
then \`[DONE]\`.`,
  },
  "POST /v1/chat/completions/input_tokens": {
    tag: "Tokenizer",
    summary: "Number of tokens of a chat's prompt",
    description:
      "The same number as POST /v1/chat/completions reports, images and sound included. Media that it refuses are refused here; a prompt that is too long is counted.",
    answers: { 200: "The number of tokens." },
    errors: countingErrors,
    example: question,
  },
  "POST /v1/chat/completions/{id}/cancel": {
    summary: "Cancel a running or waiting generation",
    description: `\`id\` is the correlation id: the X-Request-ID of the request, or of its answer. It works for streams, plain answers and
queued requests. Of two live requests with one id the newer is cancelled. Of a batch (POST /v1/batch/completions) it ends all
items; the id, a colon and a custom_id end one, and so does the custom_id alone.`,
    answers: {
      200: "The generation ends with finish_reason `cancelled`.",
      404: "No request with this id is running or queued.",
    },
  },
};
