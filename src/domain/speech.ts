// Requests and results for speech synthesis.

import type { Progress } from "./request-record.ts";

/** What to say, and how. */
export interface SpeechWork {
  readonly text: string;
  /** Id of one of the engine's voices. */
  readonly voice: string;
  /** Factor; 1: the voice's normal speed. The pitch stays the same. */
  readonly speed: number;
  readonly format: SpeechFormat;
}

/** Maximum characters of a text: about 45 minutes of speech. */
export const LONGEST_TEXT = 32_768;
/** Sample rate of all speech, in hertz. */
export const SPEECH_RATE = 24_000;

export const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm", "caf"] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

export interface Voice {
  readonly id: string;
  readonly name: string;
  /** Language tag, such as en-US. */
  readonly locale: string;
  readonly gender: "male" | "female" | "unspecified";
  readonly quality: "compact" | "enhanced" | "premium";
  /** Set if speech of this voice takes longer to compute than to play on most machines. */
  readonly isSlow?: true;
  /** A program that must be installed on the host for this voice. */
  readonly needs?: string;
}

/** What is known when all speech is computed. */
interface SpeechResult {
  /** How many phonemes the model read. */
  readonly phonemes: number;
}

/**
 * `accepted`: the request is queued · `started`: its first computation begins · `audio`: the next bytes of the file ·
 * `progress`: a sentence is done; counts the characters of sentences, without what is between them · `result`: the last
 * event.
 */
export type SpeechEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "audio"; readonly bytes: Uint8Array }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "result"; readonly result: SpeechResult };
