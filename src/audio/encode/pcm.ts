// Writes plain 16-bit little-endian samples.

import type { Encoder } from "./encoder.ts";

export const BYTES_PER_SAMPLE = 2;
export const HIGHEST = 32_767;

/** Converts samples from -1 to 1 to 16-bit integers; clips louder ones. */
export function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (const [at, sample] of samples.entries()) {
    integers[at] = Math.round(Math.max(-1, Math.min(1, sample)) * HIGHEST);
  }
  return integers;
}

export const pcmEncoder: Encoder = {
  // All processors that Bun runs on are little-endian.
  push: (samples) => new Uint8Array(toInt16(samples).buffer),
  finish: () => new Uint8Array(),
};
