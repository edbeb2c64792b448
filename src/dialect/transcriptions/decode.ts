// Requests of /v1/audio/transcriptions and /v1/audio/translations, from JSON and from forms.

import { checker } from "../../contract/schema.ts";
import { TranscriptionRequest, TranslationRequest } from "../../contract/transcriptions.ts";
import { SvcError } from "../../domain/errors.ts";
import { spokenLanguage } from "../../domain/languages.ts";
import type { RecordingSource, TranscriptionWork } from "../../domain/transcription.ts";
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
  const language = languageOf(asked);
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

const languageOf = ({ language, locale }: TranscriptionRequest): string | undefined =>
  language ? spokenLanguage(language, "language") : spokenLanguage(locale, "locale");

/** Fields of a form as the JSON body that they would be. Throws SvcError about one that cannot be read as its type. */
export function formBody(fields: Iterable<readonly [name: string, value: string]>): object {
  const body = new Map<string, unknown>();
  for (const [name, value] of fields) {
    const list = /^(.+)\[\]$/.exec(name)?.[1] ?? (LISTS.has(name) ? name : undefined);
    if (list === undefined) body.set(name, READ.get(name)?.(value) ?? value);
    else {
      const values = body.get(list);
      body.set(list, [...(Array.isArray(values) ? values : []), value]);
    }
  }
  return Object.fromEntries(body);
}

const LISTS = new Set(["timestamp_granularities", "include"]);

/** Clients name the fields: these are no properties of an object, which has others. */
const READ: ReadonlyMap<string, (value: string) => unknown> = new Map([
  ["temperature", (value) => (value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value)],
  ["stream", (value) => BOOLEANS.get(value.toLowerCase())],
  ["chunking_strategy", (value) => (value.startsWith("{") ? objectIn(value) : value)],
]);
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
