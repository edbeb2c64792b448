// The typed interface of the audio shim; `binding.ts` implements it with bun:ffi.

import { NativeError } from "../runtime/native-error.ts";

/** Why a native call failed; see svc_audio_error in shim.h. */
export const AUDIO_ERRORS = ["failed", "bad-sound"] as const;
export type AudioErrorCode = (typeof AUDIO_ERRORS)[number];

/** A native call failed; the message is for the log, unless the file is at fault ("bad-sound"). */
export class AudioError extends NativeError<AudioErrorCode> {
  override readonly name = "AudioError";
}

/** Sample rate of everything that is decoded or converted, in Hz; always one channel. */
export const SAMPLE_RATE = 16_000;

/** An open WAV, MP3 or FLAC file. */
export interface NativeSound {
  /** Number of samples that the file declares, which may be wrong; 0 when it declares none. */
  readonly declaredFrames: number;
  /**
   * Fills `out` with the next samples and returns their count: 0 at the end, or when the rest of the file is damaged.
   */
  read(out: Float32Array): number;
  close(): void;
}

/** Resamples a stream of one-channel samples to SAMPLE_RATE, block by block. */
export interface RateConverter {
  /** Returns the resampled samples; output for the last few input samples may come with the next call. */
  convert(samples: Float32Array): Float32Array;
  close(): void;
}

/** Opens sound files and rate converters; the caller must close each of them. */
export interface NativeAudio {
  /** Opens a sound file. Throws AudioError. */
  open(path: string): NativeSound;
  /** Opens a converter from `rate` Hz. Throws AudioError when the rate is out of range. */
  openConverter(rate: number): RateConverter;
}
