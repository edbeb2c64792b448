// Decodes requests of /v1/audio/transcriptions and /v1/audio/translations, from JSON and from forms.

import { checker } from "../../contract/schema.ts";
import { TranscriptionRequest, TranslationRequest } from "../../contract/transcriptions.ts";
import { fieldError } from "../../domain/errors.ts";
import { spokenLanguage } from "../../domain/languages.ts";
import type { FileSource } from "../../domain/file-source.ts";
import type { SpeechDetection, TranscriptionWork } from "../../domain/transcription.ts";
import { formFields, type FormFields } from "../fields/form-body.ts";
import { SPEECH_PEER_UNSUPPORTED } from "../fields/peer-fields.ts";
import { each, notEmpty, refuseUnsupported } from "../fields/unsupported.ts";

export interface TranscriptionCall {
  readonly model?: string;
  readonly source?: FileSource;
  readonly work: Omit<TranscriptionWork, "path" | "field">;
  readonly format: "json" | "verbose_json" | "text" | "srt" | "vtt";
  readonly segments: boolean;
  readonly stream: boolean;
}

const checkTranscription = checker(TranscriptionRequest);
const checkTranslation = checker(TranslationRequest);

/** Features of other services beyond text and times. */
const UNSUPPORTED = {
  include: notEmpty,
  known_speaker_names: notEmpty,
  known_speaker_references: notEmpty,
  ...SPEECH_PEER_UNSUPPORTED,
};
/** Translations are always into English. */
const TRANSLATION_UNSUPPORTED = {
  ...UNSUPPORTED,
  stream: Boolean,
  to_language: (language: unknown) => language !== "en",
};

/** Decodes a request. Throws SvcError naming the invalid field. */
export function decodeTranscription(raw: unknown, task: "transcribe" | "translate"): TranscriptionCall {
  const translate = task === "translate";
  const body: TranscriptionRequest = translate ? checkTranslation(raw) : checkTranscription(raw);
  refuseUnsupported(body, translate ? TRANSLATION_UNSUPPORTED : UNSUPPORTED);
  const { file, data, model, prompt, response_format, temperature, stream } = body;
  const format = response_format ?? "json";
  if (stream && (format === "srt" || format === "vtt")) {
    throw fieldError("unsupported_parameter", "stream", `sends text; with response_format ${format} it must be false`);
  }
  if (stream && body.timestamp_granularities?.length) {
    throw fieldError("unsupported_parameter", "timestamp_granularities", "needs an answer that is not streamed");
  }
  if (file && data) {
    throw fieldError("invalid_value", "data", "must be absent where 'file' is given");
  }
  const wanted = body.timestamp_granularities ?? ["segment"];
  const languageField = body.language ? "language" : "locale";
  const language = spokenLanguage(body[languageField], languageField);
  const detection = detectionOf(body);
  return {
    ...(model && { model }),
    ...(file && { source: { kind: "path", path: file, field: "file" } }),
    ...(data && { source: { kind: "data", data, field: "data" } }),
    work: {
      translate,
      temperature: temperature ?? 0,
      words: format === "verbose_json" && wanted.includes("word"),
      ...(language !== undefined && { language, languageField }),
      ...(prompt && { prompt }),
      ...(detection && { detection }),
      ...(stream && { early: true }),
    },
    format,
    segments: wanted.includes("segment"),
    stream: stream ?? false,
  };
}

/** Decodes the fields of a form that contains the recording. Throws SvcError naming the invalid field. */
export function decodeTranscriptionForm(body: object, task: "transcribe" | "translate"): TranscriptionCall {
  const call = decodeTranscription(body, task);
  if (!call.source) return call;
  throw fieldError("invalid_value", call.source.field, "must be absent where the form contains a recording");
}

function detectionOf({ chunking_strategy: strategy }: TranscriptionRequest): SpeechDetection | undefined {
  if (strategy == null || strategy === "auto") return undefined;
  const { threshold, prefix_padding_ms, silence_duration_ms } = strategy;
  return {
    ...(threshold != null && { threshold }),
    ...(prefix_padding_ms != null && { padSeconds: prefix_padding_ms / 1000 }),
    ...(silence_duration_ms != null && { minSilenceSeconds: silence_duration_ms / 1000 }),
  };
}

/** Types of the form fields that are not strings. */
export const FORM_FIELDS: FormFields = {
  ...formFields(TranscriptionRequest),
  include: "list",
  // Refused unless they have their default values.
  ...each("number", "top_p top_k min_p frequency_penalty presence_penalty repetition_penalty n length_penalty"),
  ...each("boolean", "use_beam_search include_stop_str_in_output stream_continuous_usage_stats"),
};
