// The tools that reading sound files requires from outside.

import type { NativeAudio } from "../../../ffi/audio/api.ts";

/** Hz of all output samples, which have one channel. */
export const SAMPLE_RATE = 16_000;

/**
 * Runs a program without a shell and yields its standard output as it arrives; `input` is its standard input. Throws
 * when the program fails; ends it when the reader stops, or when the signal is aborted.
 */
type RunProgram = (
  command: readonly string[],
  signal?: AbortSignal,
  input?: { readonly input: Uint8Array },
) => AsyncIterable<Uint8Array>;

export interface SoundTools {
  readonly audio: NativeAudio;
  readonly run: RunProgram;
  /** Path of the host's ffmpeg, for formats that are not decoded here; absent when there is none. */
  readonly ffmpeg?: string;
  /** Receives a line for the operator about a file that plays nevertheless. */
  readonly note?: (text: string) => void;
}
