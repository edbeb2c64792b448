// The typed face of the audio shim: what `binding.ts` implements with bun:ffi.

import { NativeError } from "../runtime/native-error.ts";

/** Why a native call failed; see svc_audio_error in shim.h. */
export const AUDIO_ERRORS = ["failed", "bad-sound"] as const;
export type AudioErrorCode = (typeof AUDIO_ERRORS)[number];

/** A native call failed; the message is for the log, unless the file is at fault ("bad-sound"). */
export class AudioError extends NativeError<AudioErrorCode> {
  override readonly name = "AudioError";
}

/** Of all samples that come out: Hz, one channel. */
export const SAMPLE_RATE = 16_000;

/** See svc_audio_info in shim.h. */
export interface SoundInfo {
  readonly format: "wav" | "mp3" | "flac";
  /** Of the file, in Hz. */
  readonly rate: number;
  readonly channels: number;
  /** How long the file says to play, which may be wrong; null: it does not say. */
  readonly seconds: number | null;
}

/** An open WAV, MP3 or FLAC file. */
export interface NativeSound {
  readonly info: SoundInfo;
  /** Fills `out` with the next samples and returns how many there were: 0 at the end, and where the rest is damaged. */
  read(out: Float32Array): number;
  close(): void;
}

/** Brings samples of one channel to SAMPLE_RATE, as they come. */
export interface RateConverter {
  /** What comes of these samples; the last few may come with the next ones. */
  convert(samples: Float32Array): Float32Array;
  close(): void;
}

/** Sound files. Everything that is opened must be closed. */
export interface NativeAudio {
  /** Throws AudioError. */
  open(path: string): NativeSound;
  /** Throws AudioError for a rate that no sound has. */
  openConverter(rate: number): RateConverter;
}
