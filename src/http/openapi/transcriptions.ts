// API description: speech recognition.

import { badRequest, jobErrors, type Operations } from "./operation.ts";

const description = (
  what: string,
) => `The recording comes in a form, as the part \`file\` with the other fields as parts,
or JSON gives it in base64 (\`data\`) or by its path under --media-root (\`file\`). Formats are detected from the content.
It is written to a private temporary file as it comes, which is deleted when the request ends; --max-audio-mb and
--max-audio-minutes bound it. The model is loaded on first use, and unloaded after --idle-unload minutes without a request.
Parts without speech are removed before recognition, so that the model invents nothing there, and times are those of the
whole recording. vLLM's fields beyond these (sampling, hotwords, beams) are 400 \`unsupported_parameter\` where they would have an effect. ${what} POST /v1/chat/completions/{id}/cancel with the correlation id ends a request.`;

const errors = {
  400: `${badRequest} A recording in a format that cannot be read, or longer than --max-audio-minutes, is \`invalid_value\` at \`file\` or \`data\`.`,
  413: "The recording is larger than --max-audio-mb, or a JSON body than 100 MB; it is refused while it is read.",
  422: "`no_speech`: there is no speech in the recording.",
  ...jobErrors,
  503: "`server_busy`: the queue is full, or the request waited in it for as long as --queue-timeout allows. `engine_unavailable`: there is no transcription model, loading it takes too long or failed, or its engine is stalled. Retry-After gives the time to retry in whole seconds.",
  507: "`storage_full`: the disk for temporary files is full.",
};

const answers = {
  200: "The text: JSON (`json`, the default), with segments, words and times (`verbose_json`), plain text (`text`), or subtitles (`srt`, `vtt`).",
};

export const transcriptionsOperations: Operations = {
  "POST /v1/audio/transcriptions": {
    summary: "Speech as text",
    description: description(
      "With `stream`, `json`, `verbose_json` and `text` are sent alike, as events: `transcript.text.delta` for each segment, then `transcript.text.done` with the whole text; the stream has no other terminator.",
    ),
    answers,
    errors,
    queued: true,
    stream:
      "`transcript.text.delta` {type, delta} for each segment, `transcript.text.done` {type, text, usage} at the end, or `error` {type, error}. usage.input_tokens are 50 for each second of speech, output_tokens those of the text.",
  },
  "POST /v1/audio/translations": {
    summary: "Speech of any language as English text",
    description: description("Needs a multilingual model. `language` is that of the speech, as a hint."),
    answers,
    errors,
    queued: true,
  },
};
