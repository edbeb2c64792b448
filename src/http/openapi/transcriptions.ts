// API description: speech recognition.

import { badRequest, jobErrors, temporaryFull, upstreamNamed, type Operations } from "./operation.ts";

const description = (
  what: string,
) => `The recording comes in a form, as the part \`file\` with the other fields as parts, or in JSON as base64
(\`data\`) or as its path under --media-root (\`file\`). Formats are detected from the content. While it is received,
the recording is written to a private temporary file, which is deleted when the request ends; --max-audio-mb and
--max-audio-minutes limit it. The model is loaded on first use, and unloaded after --idle-unload minutes without a
request. Parts without speech are removed before recognition, so that the model invents no text there; times refer to
the whole recording. Other fields of vLLM (sampling, hotwords, beams) are a 400 \`unsupported_parameter\` where they
would have an effect. ${what} POST /v1/chat/completions/{id}/cancel with the correlation id cancels a request.`;

const errors = {
  400: `${badRequest} A recording in an unsupported format, or longer than --max-audio-minutes, is an \`invalid_value\` at \`file\` or \`data\`.`,
  404: `The path of \`file\` names no file under --media-root. ${upstreamNamed}`,
  413: "The recording is larger than --max-audio-mb, or a JSON body than 100 MiB; it is refused while it is read.",
  422: "`no_speech`: there is no speech in the recording. A stream has begun before that is known, and ends with it as its `error` event.",
  ...jobErrors("there is no transcription model, loading it"),
  507: temporaryFull,
};

const answers = {
  200: "The text: JSON (`json`, the default), with segments, words and times (`verbose_json`), plain text (`text`), or subtitles (`srt`, `vtt`).",
};

export const transcriptionsOperations: Operations = {
  "POST /v1/audio/transcriptions": {
    summary: "Speech as text",
    description: description(
      "With `stream`, the formats `json`, `verbose_json` and `text` are all sent as the same events: `transcript.text.delta` for each segment, then `transcript.text.done` with the whole text; the stream has no other terminator.",
    ),
    answers,
    errors,
    queued: true,
    stream:
      "`transcript.text.delta` {type, delta} for each segment, `transcript.text.done` {type, text, usage} at the end, or `error` {type, error}. usage.input_tokens is 50 for each second of speech, output_tokens the number of tokens of the text.",
  },
  "POST /v1/audio/translations": {
    summary: "Speech of any language as English text",
    description: description("Needs a multilingual model. `language` is a hint: the language of the speech."),
    answers,
    errors,
    queued: true,
  },
};
