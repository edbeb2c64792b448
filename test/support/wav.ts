import { completeWav, wavHead } from "../../src/audio/encode/wav.ts";

/** Returns a WAV file of these samples, one channel. */
export function wavOf(samples: Int16Array, rate = 16_000): Uint8Array<ArrayBuffer> {
  const head = wavHead(rate);
  completeWav(head, samples.length);
  return Buffer.concat([head, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)]);
}
