// Encodes recognised speech as answers of /v1/audio/transcriptions and /v1/audio/translations.

import type { Transcription, VerboseTranscription } from "../../contract/transcriptions.ts";
import { languageName } from "../../domain/languages.ts";
import {
  wholeText,
  type SpeechSegment,
  type Transcript,
  type TranscriptionResult,
} from "../../domain/transcription.ts";
import type { TranscriptionCall } from "./decode.ts";

/** An answer's body and its media type. */
interface EncodedTranscription {
  readonly type: string;
  readonly body: string;
}

/** Returns the answer in the requested format. */
export function encodeTranscription(transcript: Transcript, call: TranscriptionCall): EncodedTranscription {
  const { segments, result } = transcript;
  switch (call.format) {
    case "text":
      return { type: "text/plain; charset=utf-8", body: `${wholeText(segments)}\n` };
    case "srt":
      return { type: "text/plain; charset=utf-8", body: segments.map(srtCue).join("\n") };
    case "vtt":
      return { type: "text/vtt; charset=utf-8", body: ["WEBVTT\n", ...segments.map(vttCue)].join("\n") };
    case "json":
      return json({
        object: "speech.transcription",
        text: wholeText(segments),
        locale: result.language,
        usage: durationUsage(result),
      } satisfies Transcription);
    case "verbose_json":
      return json(verbose(transcript, call));
  }
}

const json = (body: object): EncodedTranscription => ({ type: "application/json", body: JSON.stringify(body) });

function verbose({ segments, result }: Transcript, call: TranscriptionCall): VerboseTranscription {
  const { language, seconds } = result;
  const words = segments.flatMap((segment) => segment.words ?? []);
  return {
    task: call.work.translate ? "translate" : "transcribe",
    language: call.work.translate ? "english" : languageName(language),
    locale: language,
    duration: rounded(seconds),
    text: wholeText(segments),
    ...(call.segments && { segments: segments.map(encodeSegment) }),
    ...(call.work.words && {
      words: words.map(({ text, start, end }) => ({ word: text.trim(), start: rounded(start), end: rounded(end) })),
    }),
    usage: durationUsage(result),
  };
}

function encodeSegment(segment: SpeechSegment, id: number): NonNullable<VerboseTranscription["segments"]>[number] {
  const { start, end, text, tokens, averageLogprob, compressionRatio, temperature, noSpeechProbability } = segment;
  return {
    id,
    seek: Math.round(start * 100),
    start: rounded(start),
    end: rounded(end),
    text,
    tokens: [...tokens],
    temperature: rounded(temperature),
    avg_logprob: averageLogprob,
    confidence: Math.exp(averageLogprob),
    compression_ratio: compressionRatio,
    no_speech_prob: noSpeechProbability,
  };
}

const durationUsage = ({ seconds }: TranscriptionResult) => ({ type: "duration", seconds: rounded(seconds) }) as const;

/** Rounds to three places, in times to milliseconds; models are less precise. */
export const rounded = (value: number): number => Math.round(value * 1000) / 1000;

const srtCue = ({ start, end, text }: SpeechSegment, at: number): string =>
  `${at + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${cueText(text)}\n`;

/** Escapes text, because WebVTT reads markup in it. */
const vttCue = ({ start, end, text }: SpeechSegment): string =>
  `${clock(start, ".")} --> ${clock(end, ".")}\n${cueText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")}\n`;

/** Removes empty lines, which would end the cue. */
const cueText = (text: string): string =>
  text
    .split("\n")
    .flatMap((line) => line.trim() || [])
    .join("\n");

function clock(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const parts = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60];
  const [time, rest] = [parts.map((part) => String(part).padStart(2, "0")).join(":"), String(ms % 1000)];
  return `${time}${point}${rest.padStart(3, "0")}`;
}
