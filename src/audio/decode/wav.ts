// Reads 16-bit WAV files that host programs write. The native library reads those that clients send.

import { dataView } from "../../domain/data-view.ts";

export interface Sound {
  /** Hz. */
  readonly sampleRate: number;
  /** Samples of one channel, from -1 to 1. */
  readonly samples: Float32Array;
}

const HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const FORMAT_BYTES = 16;
const BITS = 16;

/**
 * Reads the first channel. The samples end with the file, since a file written before its length was known states a
 * wrong one. Throws when it is not a 16-bit WAV file.
 */
export function readWav(file: Uint8Array): Sound {
  const view = dataView(file);
  const name = (at: number) => String.fromCharCode(...file.subarray(at, at + 4));
  if (name(0) !== "RIFF" || name(8) !== "WAVE") throw new Error("this is not a WAV file");
  let format: { readonly channels: number; readonly sampleRate: number } | undefined;
  for (let at = HEAD_BYTES; at + CHUNK_HEAD_BYTES <= file.length;) {
    const length = view.getUint32(at + 4, true);
    const start = at + CHUNK_HEAD_BYTES;
    if (name(at) === "fmt " && start + FORMAT_BYTES <= file.length) {
      if (view.getUint16(start + 14, true) !== BITS)
        throw new Error("the samples of this WAV file are not 16 bits wide");
      format = { channels: view.getUint16(start + 2, true), sampleRate: view.getUint32(start + 4, true) };
    }
    if (name(at) === "data") {
      if (!format || format.channels === 0 || format.sampleRate === 0) break;
      const samples = readSamples(file.subarray(start, start + length), format.channels);
      return { sampleRate: format.sampleRate, samples };
    }
    // A padding byte follows a chunk of odd length.
    at = start + length + (length % 2);
  }
  throw new Error("this WAV file has no samples");
}

/** Reads 16-bit little-endian samples of the first of `channels`; ignores an incomplete one at the end. */
export function readSamples(bytes: Uint8Array, channels = 1): Float32Array {
  const view = dataView(bytes);
  const count = Math.floor(bytes.length / (2 * channels));
  return Float32Array.from({ length: count }, (_, at) => view.getInt16(2 * channels * at, true) / 32_768);
}
