// Converts samples without a container, from microphones and telephones, to samples for speech recognition.

import type { RawFormat, RawSound } from "../../domain/transcription.ts";
import { SAMPLE_RATE, type SoundTools } from "./sound-tools.ts";
import { readSamples } from "./wav.ts";

/** Returns samples between -1 and 1 at SAMPLE_RATE. */
export function rawSamples({ format, bytes }: RawSound, audio: SoundTools["audio"]): Float32Array {
  const samples = DECODERS[format.encoding](bytes);
  if (format.rate === SAMPLE_RATE) return samples;
  const converter = audio.openConverter(format.rate);
  try {
    return converter.convert(samples);
  } finally {
    converter.close();
  }
}

const DECODERS: Readonly<Record<RawFormat["encoding"], (bytes: Uint8Array) => Float32Array>> = {
  pcm16: (bytes) => readSamples(bytes),
  ulaw: (bytes) => Float32Array.from(bytes, ulawSample),
  alaw: (bytes) => Float32Array.from(bytes, alawSample),
};

/** Decodes G.711 µ-law: a sign, three bits of exponent and four of mantissa, all inverted. */
function ulawSample(byte: number): number {
  const code = ~byte & 0xff;
  const magnitude = (((code & 0x0f) << 3) + 0x84) << ((code >> 4) & 7);
  return ((code & 0x80 ? -1 : 1) * (magnitude - 0x84)) / 2 ** 15;
}

/** Decodes G.711 A-law: the same fields, with every second bit inverted, and a linear first segment. */
function alawSample(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code >> 4) & 7;
  const mantissa = ((code & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return ((code & 0x80 ? 1 : -1) * magnitude) / 2 ** 15;
}
