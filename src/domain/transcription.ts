// Requests and results for speech recognition.

import { SvcError } from "./errors.ts";
import type { Progress } from "./request-record.ts";

/** How speech is distinguished from other sound in a recording; absent fields have defaults. */
export interface SpeechDetection {
  /** Probability from which sound counts as speech; 0: everything counts as speech. */
  readonly threshold?: number;
  /** Seconds before and after speech that are kept with it. */
  readonly padSeconds?: number;
  /** Seconds of silence that end a phrase. */
  readonly minSilenceSeconds?: number;
}

/** How to recognise speech. */
export interface TranscriptionTask {
  /** Two- or three-letter code of the spoken language; absent: detected. */
  readonly language?: string;
  /** The request field of the language, for error messages; absent: `language`. */
  readonly languageField?: string;
  /** Whether to translate the speech into English. */
  readonly translate: boolean;
  /** The preceding text, or names and spellings that may occur. */
  readonly prompt?: string;
  /** Temperature of the first attempt; where decoding fails, it is retried with a higher temperature. */
  readonly temperature: number;
  /** Whether to return the times of words. */
  readonly words: boolean;
  readonly detection?: SpeechDetection;
  /** Set if the client streams the text, so that the first text must come early. */
  readonly early?: true;
}

/** What to recognise, and how. */
export interface TranscriptionWork extends TranscriptionTask {
  /** Path of the recording's file, which exists until the work has ended. */
  readonly path: string;
  /** The request field of the recording, for error messages. */
  readonly field: string;
}

/** Recognition of sound in memory that contains nothing but speech. */
export interface UtteranceWork extends TranscriptionTask {
  readonly sound: RawSound;
}

/** Format of raw samples in one channel: 16 bits each, little-endian, or one byte each by G.711. */
export interface RawFormat {
  readonly encoding: "pcm16" | "ulaw" | "alaw";
  /** Sample rate in hertz. */
  readonly rate: number;
}

export interface RawSound {
  readonly format: RawFormat;
  readonly bytes: Uint8Array;
}

/** Duration of a frame, the unit of speech detection. Every format has a whole number of samples in a frame. */
export const FRAME_SECONDS = 0.032;

/** The next sound of a stream, in which to detect speech. */
export interface ListeningWork {
  /** Whole frames. */
  readonly sound: RawSound;
  /** How many of the first frames were processed before: they only provide context for the frames after them. */
  readonly known: number;
  /** State of the detector after the frames before; absent: there were none. */
  readonly memory?: Float32Array;
}

/** The result of speech detection. */
export interface Heard {
  /** Probability of speech for each new frame, 0 to 1. */
  readonly speech: Float32Array;
  /** State of the detector for the next sound. */
  readonly memory: Float32Array;
}

/** A word with its times. */
export interface SpokenWord {
  readonly text: string;
  /** Seconds from the beginning of the recording. */
  readonly start: number;
  readonly end: number;
}

/** A piece of speech, mostly a sentence or a clause. */
export interface SpeechSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Token ids in the model's vocabulary. */
  readonly tokens: readonly number[];
  /** Mean log probability of the tokens. */
  readonly averageLogprob: number;
  /** Bytes of the text divided by bytes of the compressed text: high for text that repeats itself. */
  readonly compressionRatio: number;
  /** Probability by the model that this piece contains no speech. */
  readonly noSpeechProbability: number;
  /** Temperature at which the text was decoded. */
  readonly temperature: number;
  readonly words?: readonly SpokenWord[];
}

/** What is known at the end of a recording. */
export interface TranscriptionResult {
  readonly language: string;
  /** Duration of the recording. */
  readonly seconds: number;
  /** Duration of the speech that the model received, without the silence around it. */
  readonly speechSeconds: number;
}

/** What is known of a model once it is loaded. */
export interface TranscriptionModel {
  /** Size class, such as `base`. */
  readonly size: string;
  readonly bytes: number;
  readonly device: string;
}

/**
 * `accepted`: the recording is readable audio and is queued · `started`: its first computation begins · `segment`: the
 * next piece of speech · `progress`: from time to time, in seconds of the recording; `of`: its duration according to the
 * file · `result`: the last event.
 */
export type TranscriptionEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "segment"; readonly segment: SpeechSegment }
  | { readonly type: "result"; readonly result: TranscriptionResult };

/** The transcript of a whole recording. */
export interface Transcript {
  readonly segments: readonly SpeechSegment[];
  readonly result: TranscriptionResult;
}

/** Collects recognised speech. Throws what the recognition throws. */
export async function collectSpeech(events: AsyncIterable<TranscriptionEvent>): Promise<Transcript> {
  const segments: SpeechSegment[] = [];
  for await (const event of events) {
    if (event.type === "segment") segments.push(event.segment);
    if (event.type === "result") return { segments, result: event.result };
  }
  throw new SvcError("internal_error", "The recognition ended without a result.");
}

/** Returns the text of a whole recording, trimmed, because models put a space before each segment. */
export const wholeText = (segments: readonly Pick<SpeechSegment, "text">[]): string =>
  segments
    .map(({ text }) => text)
    .join("")
    .trim();
