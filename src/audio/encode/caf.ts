// Writes the header of files in Apple's Core Audio Format.

import { dataView } from "../../domain/data-view.ts";
import { SPEECH_RATE } from "../../domain/speech.ts";
import { BYTES_PER_SAMPLE } from "./pcm.ts";

const HEAD_BYTES = 68;
const DATA_SIZE_AT = 56;
/** "Until the end of the file", which is allowed for the last chunk. */
const OPEN_SIZE = -1n;
/** Format flag for little-endian integers. */
const LITTLE_ENDIAN = 2;

/** Returns the header of a one-channel file whose length is not known yet. */
export function cafHead(): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write("caff", 0, "latin1");
  head.writeUInt16BE(1, 4);
  head.write("desc", 8, "latin1");
  head.writeBigInt64BE(32n, 12);
  head.writeDoubleBE(SPEECH_RATE, 20);
  head.write("lpcm", 28, "latin1");
  head.writeUInt32BE(LITTLE_ENDIAN, 32);
  head.writeUInt32BE(BYTES_PER_SAMPLE, 36);
  head.writeUInt32BE(1, 40);
  head.writeUInt32BE(1, 44);
  head.writeUInt32BE(BYTES_PER_SAMPLE * 8, 48);
  head.write("data", 52, "latin1");
  head.writeBigInt64BE(OPEN_SIZE, DATA_SIZE_AT);
  return head;
}

/** Writes the size of `samples` samples into the file's header. */
export function completeCaf(head: Uint8Array, samples: number): void {
  // The chunk begins with an edit count, which is part of its size.
  const edits = HEAD_BYTES - DATA_SIZE_AT - 8;
  dataView(head).setBigInt64(DATA_SIZE_AT, BigInt(edits + samples * BYTES_PER_SAMPLE));
}
