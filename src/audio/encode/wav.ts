// Writes the header of WAV files.

import { dataView } from "../../domain/data-view.ts";
import { BYTES_PER_SAMPLE } from "./pcm.ts";

const HEAD_BYTES = 44;
/** A size that players read as "until the end of the file". */
const OPEN_SIZE = 0xffff_ffff;
const PCM = 1;
const RIFF_SIZE_AT = 4;
const DATA_SIZE_AT = 40;

/** Returns the header of a one-channel file whose length is not known yet. */
export function wavHead(sampleRate: number): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(OPEN_SIZE, RIFF_SIZE_AT);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(PCM, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  head.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  head.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(OPEN_SIZE, DATA_SIZE_AT);
  return head;
}

/** Writes the sizes of a file with `samples` samples into its header; sizes of a day or longer stay open. */
export function completeWav(head: Uint8Array, samples: number): void {
  const view = dataView(head);
  const size = samples * BYTES_PER_SAMPLE;
  view.setUint32(RIFF_SIZE_AT, Math.min(HEAD_BYTES - 8 + size, OPEN_SIZE), true);
  view.setUint32(DATA_SIZE_AT, Math.min(size, OPEN_SIZE), true);
}
