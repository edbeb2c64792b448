// Binds the audio shim through bun:ffi; callers above this file see a typed API, never JSON or native handles.

import { NativeLibrary } from "../runtime/library.ts";
import {
  AUDIO_ERRORS,
  AudioError,
  SAMPLE_RATE,
  type AudioErrorCode,
  type NativeAudio,
  type NativeSound,
  type RateConverter,
} from "./api.ts";
import { ABI_VERSION, symbols } from "./symbols.ts";

const shim = { name: "audio", abi: ABI_VERSION, symbols, errors: AUDIO_ERRORS, Failure: AudioError };

/**
 * Loads the audio library in `directory`. Call it once per process.
 * Throws AudioError naming the path when the library is missing or has another version.
 */
export const openAudio = (directory: string): NativeAudio => new Binding(directory, shim);

class Binding extends NativeLibrary<typeof symbols, AudioErrorCode> implements NativeAudio {
  open(path: string): NativeSound {
    const { native } = this;
    const bytes = this.bytes(path);
    const number = this.check(native.svc_audio_open(bytes, bytes.length - 1), "open a sound file");
    return {
      declaredFrames: this.check(native.svc_audio_declared_frames(number), "describe a sound"),
      read: (out) => this.check(native.svc_audio_read(number, out, out.length), "decode sound"),
      close: () => native.svc_audio_close(number),
    };
  }

  openConverter(rate: number): RateConverter {
    const number = this.check(this.native.svc_audio_open_converter(rate), "open a converter");
    return {
      convert: (samples) => this.convert(number, samples, rate),
      close: () => this.native.svc_audio_close(number),
    };
  }

  private convert(number: number, samples: Float32Array, rate: number): Float32Array {
    if (samples.length === 0) return samples;
    const out = new Float32Array(Math.ceil((samples.length * SAMPLE_RATE) / rate) + 1);
    const made = this.native.svc_audio_convert(number, samples, samples.length, out, out.length);
    return out.subarray(0, this.check(made, "convert samples"));
  }
}
