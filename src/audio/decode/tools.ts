// What reading sound files needs and does not bring itself.

import type { NativeAudio } from "../../../ffi/audio/api.ts";

/** Of all samples that come out: Hz, one channel. */
export const SAMPLE_RATE = 16_000;

/**
 * Runs a program to its end without a shell and hands out what it writes to its standard output, as it comes. Throws when it
 * fails; ends it when nobody wants more, or when the signal says so.
 */
type RunProgram = (command: readonly string[], signal?: AbortSignal) => AsyncIterable<Uint8Array>;

export interface SoundTools {
  readonly audio: NativeAudio;
  readonly run: RunProgram;
  /** Path of the host's ffmpeg, for what nothing here decodes; absent: there is none. */
  readonly ffmpeg?: string;
  /** Takes a line for the operator about a file that plays all the same. */
  readonly note?: (text: string) => void;
}
