// The typed face of the whisper shim: what `binding.ts` implements with bun:ffi and a fake implements in tests.

import type { LoadState, LogLine } from "../runtime/library.ts";
import { NativeError, type NativeFailure } from "../runtime/native-error.ts";

/** Why a native call or a job failed; no failure asks for more than its sentence. */
export const WHISPER_ERRORS = ["failed"] as const;
export type WhisperErrorCode = (typeof WHISPER_ERRORS)[number];

/** A native call failed; the message is for the log. */
export class WhisperError extends NativeError<WhisperErrorCode> {
  override readonly name = "WhisperError";
}

/** Samples that the speech detector hears at once, and how many numbers it remembers from one to the next. */
export const LISTENING_WINDOW = 512;
export const LISTENING_MEMORY = 256;

/** See svc_whisper_load_start in shim.h. */
export interface WhisperConfig {
  /** Of the model, in whisper.cpp's format. */
  readonly path: string;
  /** Of the Silero model that `speech` listens with; without it, `speech` throws. */
  readonly vadPath?: string;
  /** Jobs that are worked on side by side, each with a state of its own on the one model, made when it is first needed. */
  readonly workers: number;
  /** Of each worker. */
  readonly threads: number;
  readonly gpu: boolean;
  readonly flashAttention: boolean;
}

/** See svc_whisper_info in shim.h. */
export interface WhisperModel {
  /** "tiny", "base", "small", … */
  readonly type: string;
  /** Of the model's file. */
  readonly bytes: number;
  /** Codes of the languages it knows. */
  readonly languages: readonly string[];
  /** Where it is computed: "CPU", or the name of a GPU. */
  readonly device: string;
  /** Positions of the encoder, a second has 50: the most that `audioContext` may be. */
  readonly audioContext: number;
}

export interface SpeechOptions {
  /** Probability from which on a moment counts as speech, 0 to 1. */
  readonly threshold: number;
  /** Shorter silences do not end a phrase. */
  readonly minSilenceSeconds: number;
  /** By how much phrases are extended at both ends. */
  readonly padSeconds: number;
}

/** whisper.cpp's own. */
export const SPEECH_DEFAULTS: SpeechOptions = {
  threshold: 0.5,
  minSilenceSeconds: 0.1,
  padSeconds: 0.03,
};

/** A stretch of sound, in samples from the first one given; `end` is the one behind it. */
export interface Phrase {
  readonly start: number;
  readonly end: number;
}

export interface JobOptions {
  /** A code out of the model's `languages`; absent: it is detected from the first half minute. */
  readonly language?: string;
  /** Into English. */
  readonly translate: boolean;
  /** Text that may have gone before: spelling and style follow it. Its last 224 tokens count. */
  readonly prompt: string;
  /** 0: the likeliest words by beam search. It grows each time that decoding has got stuck. */
  readonly temperature: number;
  /** Hypotheses at temperature 0, and tries above; 1 is greedy. */
  readonly beams: number;
  /** Whether segments have `words`. */
  readonly wordTimes: boolean;
  /** Encoder positions to compute, 50 a second: less than the sound needs cuts it off; 0: half a minute, as trained. */
  readonly audioContext: number;
  /** 0: as many as the worker has. */
  readonly threads: number;
}

/** What whisper.cpp's own program does. */
export const JOB_DEFAULTS: JobOptions = {
  translate: false,
  prompt: "",
  temperature: 0,
  beams: 5,
  wordTimes: false,
  audioContext: 0,
  threads: 0,
};

/** Times are in seconds from the first sample. */
interface Word {
  readonly start: number;
  readonly end: number;
  /** Without the spaces around it. In languages that write none, a token's worth of characters. */
  readonly text: string;
  /** Mean over its tokens. */
  readonly probability: number;
}

export interface Segment {
  readonly start: number;
  readonly end: number;
  /** As the model writes it, mostly with a space in front. */
  readonly text: string;
  /** Without special tokens. */
  readonly tokens: readonly number[];
  /** At which it was decoded. */
  readonly temperature: number;
  /** Mean over its tokens. */
  readonly avgLogprob: number;
  /** Of the half minute that it is in, 0 to 1. */
  readonly noSpeechProb: number;
  /** Only with `wordTimes`. */
  readonly words?: readonly Word[];
}

export interface Language {
  readonly code: string;
  /** Absent when it was not detected, but given. */
  readonly probability?: number;
}

/** "done": all segments are known; see svc_whisper_stage in shim.h. */
export const WHISPER_STAGES = ["queued", "running", "done"] as const;
export type WhisperState = (typeof WHISPER_STAGES)[number] | NativeFailure<WhisperErrorCode>;

/** Branded so that it cannot be mistaken for a job of another shim. */
export type WhisperJob = number & { readonly __whisper: unique symbol };

/** Speech to text. Nothing here waits for work but `wait` and `speech`; every job must be released. */
export interface Whisper {
  /** Reads abort requests from a pipe, and ends the process when that closes. */
  listenForAborts(fd: number): void;
  loadStart(config: WhisperConfig): void;
  loadPoll(): LoadState;
  model(): WhisperModel;
  /** Stops all work and releases all jobs. Throws while loading. */
  unload(): void;
  /**
   * Phrases with speech in them, in order. Blocks for about 3 ms a second of sound, so give it a minute or so at a time. Each
   * call begins anew, so cut a longer recording where there is silence: after a call whose last phrase ends with the samples,
   * begin the next one with that phrase. Throws WhisperError.
   */
  speech(samples: Float32Array, options?: Partial<SpeechOptions>): Phrase[];
  /**
   * Listens on in a sound that comes piece by piece: how likely it is in each whole LISTENING_WINDOW of the samples that
   * somebody speaks. `memory` is what the call before left, LISTENING_MEMORY zeros at first, and is brought up to date. Blocks
   * for about 3 ms a second of sound. Throws WhisperError.
   */
  listen(samples: Float32Array, memory: Float32Array): Float32Array;
  /**
   * Queues sound, which is copied. It may have any length, but is prepared as a whole first, for about 3 ms a second of sound,
   * and that alone cannot be stopped: give it a minute or so at a time. Throws WhisperError.
   */
  submit(samples: Float32Array, options?: Partial<JobOptions>): WhisperJob;
  /**
   * The next job of which there is something new: its language, segments, its end or failure. Waits up to `timeoutMs` (the whole
   * thread waits). Look at its state first: of a job that is done then, `segments` gives all there are.
   */
  wait(timeoutMs: number): WhisperJob | undefined;
  state(job: WhisperJob): WhisperState;
  /** The segments known by now, from number `from` on. */
  segments(job: WhisperJob, from: number): Segment[];
  /** The language given, or detected; undefined before. */
  language(job: WhisperJob): Language | undefined;
  /** At any time; work on the job stops within 100 ms (but see `submit`), and `wait` tells no more of it. */
  release(job: WhisperJob): void;
  /** Log lines since the last call. */
  drainLog(): LogLine[];
}
