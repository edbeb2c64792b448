// Requests of /v1/audio/transcriptions and /v1/audio/translations, from JSON and from forms.

import { checker, received } from "../../contract/schema.ts";
import { TranscriptionRequest, TranslationRequest } from "../../contract/transcriptions.ts";
import { SvcError } from "../../domain/errors.ts";
import { languageCode } from "../../domain/languages.ts";
import type { RecordingSource, TranscriptionWork } from "../../domain/transcription.ts";
import type { FormFields } from "../fields/form-body.ts";
import { notEmpty, refuseUnsupported } from "../fields/unsupported.ts";

export interface TranscriptionCall {
  readonly model?: string;
  readonly source?: RecordingSource;
  readonly work: Omit<TranscriptionWork, "path" | "field">;
  readonly format: "json" | "verbose_json" | "text" | "srt" | "vtt";
  readonly segments: boolean;
  readonly stream: boolean;
}

const checkTranscription = checker(TranscriptionRequest);
const checkTranslation = checker(TranslationRequest);

/** What other services have beyond text and times. */
const UNSUPPORTED = { include: notEmpty, known_speaker_names: notEmpty, known_speaker_references: notEmpty };

/** Throws SvcError naming the field at fault. */
export function decodeTranscription(body: unknown, task: "transcribe" | "translate"): TranscriptionCall {
  const translate = task === "translate";
  const asked: TranscriptionRequest = translate ? checkTranslation(body) : checkTranscription(body);
  refuseUnsupported(body, translate ? { ...UNSUPPORTED, stream: Boolean } : UNSUPPORTED);
  const { file, data, model, prompt, response_format, temperature, stream } = asked;
  const format = response_format ?? "json";
  if (stream && (format === "srt" || format === "vtt")) {
    const message = `'stream' sends text; with response_format ${format} it must be false.`;
    throw new SvcError("unsupported_parameter", message, { param: "stream" });
  }
  if (file && data) {
    throw new SvcError("invalid_value", "'data' must be absent where 'file' is given.", { param: "data" });
  }
  const wanted = asked.timestamp_granularities ?? ["segment"];
  const language = translate ? undefined : languageOf(asked);
  return {
    ...(model && { model }),
    ...(file && { source: { kind: "path", path: file } }),
    ...(data && { source: { kind: "base64", data } }),
    work: {
      translate,
      temperature: temperature ?? 0,
      words: format === "verbose_json" && wanted.includes("word"),
      ...(language !== undefined && { language }),
      ...(prompt && { prompt }),
    },
    format,
    segments: wanted.includes("segment"),
    stream: stream ?? false,
  };
}

function languageOf({ language, locale }: TranscriptionRequest): string | undefined {
  const [param, name] = language ? (["language", language] as const) : (["locale", locale] as const);
  if (!name || name === "auto") return undefined;
  const code = languageCode(name);
  if (code !== undefined) return code;
  const message = `'${param}' must be a language that speech is recognised in, as en, pt-BR or german; got ${received(name)}.`;
  throw new SvcError("invalid_value", message, { param });
}

/** What the fields of a form are that are no texts. */
export const FORM_FIELDS = {
  timestamp_granularities: "list",
  include: "list",
  temperature: "number",
  stream: "boolean",
  chunking_strategy: "object",
} as const satisfies FormFields;
