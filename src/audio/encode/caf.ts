// The head of a file in Apple's Core Audio Format.

import { dataView } from "../../domain/data-view.ts";
import { BYTES_PER_SAMPLE } from "./pcm.ts";

const HEAD_BYTES = 68;
const DATA_SIZE_AT = 56;
/** Until the file ends; allowed for the last chunk. */
const OPEN_SIZE = -1n;
/** Integers, the lesser byte first. */
const LITTLE_ENDIAN = 2;

/** The head of a file of one channel whose length is not known yet. */
export function cafHead(sampleRate: number): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write("caff", 0, "latin1");
  head.writeUInt16BE(1, 4);
  head.write("desc", 8, "latin1");
  head.writeBigInt64BE(32n, 12);
  head.writeDoubleBE(sampleRate, 20);
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

/** Writes the size of so many samples into the head of their file. */
export function completeCaf(head: Uint8Array, samples: number): void {
  // The chunk begins with a count of edits, which is part of it.
  const edits = HEAD_BYTES - DATA_SIZE_AT - 8;
  dataView(head).setBigInt64(DATA_SIZE_AT, BigInt(edits + samples * BYTES_PER_SAMPLE));
}
