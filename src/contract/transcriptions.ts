// POST /v1/audio/transcriptions and /v1/audio/translations

import { oneOf, opt, optFlag, optInteger, optText, t, type Static, type TSchema } from "./schema.ts";

/** More characters than the model can take into account. */
export const LONGEST_PROMPT = 10_000;

const LONGEST_PADDING_MS = 5000;
const LONGEST_SILENCE_MS = 10_000;

/** Settings of speech detection; the usual values differ between recordings and dictation. */
export const voiceDetection = {
  threshold: opt(
    t.Number({
      minimum: 0,
      maximum: 1,
      description: "Minimum probability at which sound counts as speech; default 0.5. 0: all sound counts as speech.",
    }),
  ),
  prefix_padding_ms: optInteger(
    { minimum: 0, maximum: LONGEST_PADDING_MS },
    "Milliseconds of sound before and after speech that are kept with it; default 300.",
  ),
  silence_duration_ms: optInteger(
    { minimum: 0, maximum: LONGEST_SILENCE_MS },
    "Milliseconds of silence that end a segment of speech; default 100 in recordings, 500 in dictation.",
  ),
};

const common = {
  file: opt(
    t.String({
      minLength: 1,
      description:
        "In a form: the recording. In JSON: the path of a recording in the server's media folder (--media-root).",
    }),
  ),
  data: opt(t.String({ minLength: 1, description: "The recording in base64 or as a data: URL, in place of `file`." })),
  format: optText("Format of `data`. Ignored: the format is detected from the content."),
  model: optText("A transcription model of GET /v1/models; default, also for unknown names: the first one."),
  prompt: opt(
    t.String({
      maxLength: LONGEST_PROMPT,
      description:
        "What was said before, or names and spellings that may occur. Of a long prompt only the end is used.",
    }),
  ),
  language: optText("Language of the speech, such as `de`, `de-AT` or `german`; default: detected once per recording."),
  locale: optText("Another name for `language`, which takes precedence."),
  response_format: opt(oneOf("json", "verbose_json", "text", "srt", "vtt")),
  temperature: opt(
    t.Number({
      minimum: 0,
      maximum: 1,
      description: "Sampling temperature; default 0. Where decoding fails, it is repeated at higher temperatures.",
    }),
  ),
  timestamp_granularities: opt(
    t.Array(oneOf("segment", "word"), {
      minItems: 1,
      maxItems: 2,
      description:
        "What `verbose_json` reports times for; default: segments. Not with `stream`. In a form: `timestamp_granularities[]`.",
    }),
  ),
  chunking_strategy: opt(
    t.Union([t.Literal("auto"), t.Object({ type: t.Literal("server_vad"), ...voiceDetection })], {
      description:
        "How recordings are split at silence, which is removed. Without a speech detector (--no-vad) recordings are not split. In a form: JSON, or fields such as `chunking_strategy[threshold]`.",
    }),
  ),
};

export const TranslationRequest = t.Object(common);

export const TranscriptionRequest = t.Object({
  ...common,
  stream: optFlag("Send the text while it is recognised, as server-sent events."),
});

export type TranscriptionRequest = Static<typeof TranscriptionRequest>;

/** The parts of forms, for the API description: the server reads them one after another, not as one value. */
const recording = { file: t.String({ format: "binary", description: "The recording." }) };
const inForms = (schema: TSchema) => t.Object({ ...t.Omit(schema, ["data", "format"]).properties, ...recording });
export const TranslationForm = inForms(TranslationRequest);
export const TranscriptionForm = inForms(TranscriptionRequest);

const Usage = t.Object({
  type: t.Literal("duration"),
  seconds: t.Number({ description: "Duration of the recording." }),
});

export const Transcription = t.Object({
  object: t.Literal("speech.transcription"),
  text: t.String(),
  locale: t.String({ description: "Language code of the speech." }),
  usage: Usage,
});

const Segment = t.Object({
  id: t.Integer(),
  seek: t.Integer({ description: "`start` in hundredths of a second." }),
  start: t.Number({ description: "Seconds from the beginning of the recording." }),
  end: t.Number(),
  text: t.String(),
  tokens: t.Array(t.Integer(), { description: "Token ids in the model's vocabulary." }),
  temperature: t.Number({ description: "Temperature at which this text was decoded." }),
  avg_logprob: t.Number(),
  confidence: t.Number({ description: "Geometric mean of the tokens' probabilities, computed from avg_logprob." }),
  compression_ratio: t.Number({ description: "Bytes of the text, divided by the bytes of the compressed text." }),
  no_speech_prob: t.Number({ description: "Probability that there is no speech." }),
});

const Word = t.Object({ word: t.String(), start: t.Number(), end: t.Number() });

export const VerboseTranscription = t.Object({
  task: oneOf("transcribe", "translate"),
  language: t.String({ description: "English name of the text's language." }),
  locale: t.String({ description: "Language code of the speech." }),
  duration: t.Number({ description: "Duration of the recording in seconds." }),
  text: t.String(),
  segments: t.Optional(t.Array(Segment)),
  words: t.Optional(t.Array(Word)),
  usage: Usage,
});

export type Transcription = Static<typeof Transcription>;
export type VerboseTranscription = Static<typeof VerboseTranscription>;
