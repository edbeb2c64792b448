// The typed interface of the whisper shim; `binding.ts` implements it with bun:ffi, and tests implement it with a fake.

import { NativeError, type NativeFailure } from "../runtime/native-error.ts";

/** Why a native call or a job failed; callers need only the message. */
export const WHISPER_ERRORS = ["failed"] as const;
export type WhisperErrorCode = (typeof WHISPER_ERRORS)[number];

/** A native call failed; the message is for the log. */
export class WhisperError extends NativeError<WhisperErrorCode> {
  override readonly name = "WhisperError";
}

/** Samples per window of the speech detector, and how many numbers it remembers between windows. */
export const LISTENING_WINDOW = 512;
export const LISTENING_MEMORY = 256;

/** See svc_whisper_load_start in shim.h. */
export interface WhisperConfig {
  /** The model, in whisper.cpp's format. */
  readonly path: string;
  /** The Silero model for `speech` and `listen`; without it they throw. */
  readonly vadPath?: string;
  /** Number of jobs that run side by side, each with its own state on the one model, made when it is first needed. */
  readonly workers: number;
  /** Threads of each worker. */
  readonly threads: number;
  readonly gpu: boolean;
  readonly flashAttention: boolean;
}

/** See svc_whisper_info in shim.h. */
export interface WhisperModel {
  /** "tiny", "base", "small", … */
  readonly type: string;
  /** Size of the model's file. */
  readonly bytes: number;
  /** Codes of the languages that the model knows. */
  readonly languages: readonly string[];
  /** The device that computes: "CPU", or the name of a GPU. */
  readonly device: string;
  /** Encoder positions for half a minute, 50 per second. */
  readonly audioContext: number;
}

/** whisper.cpp's own defaults. */
export const SPEECH_DEFAULTS = {
  /** Probability from which a moment counts as speech, 0 to 1. */
  threshold: 0.5,
  /** Shorter silences do not end a phrase. */
  minSilenceSeconds: 0.1,
  /** By how much phrases are extended at both ends. */
  padSeconds: 0.03,
};
export type SpeechOptions = Readonly<typeof SPEECH_DEFAULTS>;

/** A stretch of sound, in samples from the first one given; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Defaults of whisper.cpp's own program. */
export const JOB_DEFAULTS = {
  /** Whether to translate into English. */
  translate: false,
  /** Text that may have preceded the sound; spelling and style follow it. Only its last 224 tokens count. */
  prompt: "",
  /** 0 selects the likeliest words by beam search. Increased each time that decoding gets stuck. */
  temperature: 0,
  /** Hypotheses at temperature 0, attempts at higher ones; 1 is greedy. */
  beams: 5,
  /** Whether segments have `words`. */
  wordTimes: false,
  /**
   * Encoder positions for the sound, 50 per second. Fewer than it needs cut it off; more than the model has, or 0, are
   * half a minute, as trained.
   */
  audioContext: 0,
  /**
   * Once the first half minute is recognised, the rest is encoded with the positions that are left of `audioContext`, but
   * at least so many; 0: as many as the first.
   */
  leastAudioContext: 0,
  /** 0 for as many as the worker has. */
  threads: 0,
};
/** `language`: a code from the model's `languages`; absent to detect the language from the first half minute. */
export type JobOptions = Readonly<typeof JOB_DEFAULTS> & { readonly language?: string };

/** Times are in seconds from the first sample. */
interface Word {
  readonly start: number;
  readonly end: number;
  /** Without surrounding spaces. In languages without spaces, the characters of one token. */
  readonly text: string;
}

export interface Segment {
  readonly start: number;
  readonly end: number;
  /** As the model writes it, usually with a leading space. */
  readonly text: string;
  /** Without special tokens. */
  readonly tokens: readonly number[];
  /** Temperature at which the segment was decoded. */
  readonly temperature: number;
  /** Mean over its tokens. */
  readonly avgLogprob: number;
  /** Probability that the segment's half minute has no speech, 0 to 1. */
  readonly noSpeechProb: number;
  /** Only with `wordTimes`. */
  readonly words?: readonly Word[];
}

/** "done": all segments are known; see svc_whisper_stage in shim.h. */
export const WHISPER_STAGES = ["queued", "running", "done"] as const;
export type WhisperState = (typeof WHISPER_STAGES)[number] | NativeFailure<WhisperErrorCode>;

/** Branded so that it cannot be mistaken for a job of another shim. */
export type WhisperJob = number & { readonly __whisper: unique symbol };

/** Speech to text. Only `wait`, `speech` and `listen` block; every job must be released. */
export interface Whisper {
  model(): WhisperModel;
  /**
   * Returns where there is speech, in order. Blocks for about 3 ms per second of sound, so pass about a minute at
   * a time. Each call starts afresh, so cut a longer recording at silence: after a call whose last span ends with the
   * samples, begin the next one with that span. Throws WhisperError.
   */
  speech(samples: Float32Array, options?: Partial<SpeechOptions>): Span[];
  /**
   * Continues to listen to a sound that arrives piece by piece: returns the probability of speech in each whole
   * LISTENING_WINDOW of the samples. `memory` is what the previous call left, LISTENING_MEMORY zeros at first, and is
   * updated. Blocks for about 3 ms per second of sound. Throws WhisperError.
   */
  listen(samples: Float32Array, memory: Float32Array): Float32Array;
  /**
   * Queues sound, which is copied. It may have any length, but is first prepared as a whole, for about 3 ms per second
   * of sound, and that step cannot be stopped: pass about a minute at a time. Throws WhisperError.
   */
  submit(samples: Float32Array, options?: Partial<JobOptions>): WhisperJob;
  /**
   * Returns the next job that has an update: its language, segments, end or failure. Blocks the whole thread for up to
   * `timeoutMs`. Read the job's state first: if the job is done then, `segments` returns all of its segments.
   */
  wait(timeoutMs: number): WhisperJob | undefined;
  state(job: WhisperJob): WhisperState;
  /** Returns the segments known so far, from index `from` on. */
  segments(job: WhisperJob, from: number): Segment[];
  /** Returns the code of the language that was given or detected; undefined before it is known. */
  language(job: WhisperJob): string | undefined;
  /**
   * May be called at any time; work on the job stops within 100 ms (but see `submit`), and `wait` reports it no more.
   */
  release(job: WhisperJob): void;
}
