// Text as speech.

/** What a voice says, and how. */
export interface SpeechWork {
  readonly text: string;
  /** Of one of the engine's voices. */
  readonly voice: string;
  /** 1: as the voice speaks by itself; the pitch stays. */
  readonly speed: number;
  readonly format: SpeechFormat;
}

/** Characters of a text that are said at once: about three quarters of an hour. */
export const LONGEST_TEXT = 32_768;
/** Samples a second of `pcm`. */
export const PCM_RATE = 24_000;

export const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm", "caf"] as const;
export type SpeechFormat = (typeof SPEECH_FORMATS)[number];

export interface Voice {
  readonly id: string;
  readonly name: string;
  /** Language tag, as en-US. */
  readonly locale: string;
  readonly gender: "male" | "female" | "unspecified";
  readonly quality: "compact" | "enhanced" | "premium";
  /** What it says takes longer to compute than it plays, on most machines. */
  readonly isSlow?: true;
  /** A program that has to be installed on the host before it can speak. */
  readonly needs?: string;
}

/** What is known when everything is said. */
interface SpeechResult {
  /** How long it plays. */
  readonly seconds: number;
  /** Symbols of sounds that the model read. */
  readonly phonemes: number;
}

/** How far it is, in characters: those of its sentences, without what is between them. */
export interface SpeechProgress {
  readonly said: number;
  readonly of: number;
}

/**
 * `accepted`: it waits for its turn · `started`: its first computation begins · `audio`: the next bytes of the file ·
 * `progress`: a sentence is said · `result`: the last event.
 */
export type SpeechEvent =
  | { readonly type: "accepted" }
  | { readonly type: "started" }
  | { readonly type: "audio"; readonly bytes: Uint8Array }
  | { readonly type: "progress"; readonly progress: SpeechProgress }
  | { readonly type: "result"; readonly result: SpeechResult };
