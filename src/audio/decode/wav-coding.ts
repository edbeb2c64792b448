// Detects the coding of a WAV file that the native library does not read.

import { dataView } from "../../domain/data-view.ts";
import { bytesAt, type SoundBytes } from "./sound-bytes.ts";

const EXTENSIBLE = 0xfffe;
/** PCM, Microsoft's and IMA ADPCM, floats, A-law, μ-law. */
const NATIVE: readonly number[] = [0x01, 0x02, 0x03, 0x06, 0x07, 0x11];
const NAMES: Readonly<Record<number, string>> = {
  0x31: "GSM 6.10",
  0x40: "G.721",
  0x45: "G.726",
  0x50: "MPEG",
  0x55: "MP3",
  0x64: "G.726",
  0xff: "AAC",
  0x160: "WMA",
  0x161: "WMA",
  0x162: "WMA",
};
const HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
/** Bytes up to and including the actual tag of an extensible format. */
const FORMAT_BYTES = 26;
/** Maximum number of chunks to skip on the way to the format. */
const MOST_CHUNKS = 64;

/** Returns the name of a WAV coding that only other programs read; undefined when it is read here, or unknown. */
export function foreignCoding(file: SoundBytes): string | undefined {
  let at = HEAD_BYTES;
  for (let chunk = 0; chunk < MOST_CHUNKS; chunk++) {
    const bytes = bytesAt(file, at, CHUNK_HEAD_BYTES + FORMAT_BYTES);
    if (bytes.length < CHUNK_HEAD_BYTES + 2) return undefined;
    const view = dataView(bytes);
    const length = view.getUint32(4, true);
    if (String.fromCharCode(...bytes.subarray(0, 4)) === "fmt ") {
      const tag = view.getUint16(CHUNK_HEAD_BYTES, true);
      const isWhole = length >= FORMAT_BYTES && bytes.length === CHUNK_HEAD_BYTES + FORMAT_BYTES;
      const coding = tag === EXTENSIBLE && isWhole ? view.getUint16(CHUNK_HEAD_BYTES + FORMAT_BYTES - 2, true) : tag;
      if (coding === EXTENSIBLE || NATIVE.includes(coding)) return undefined;
      return NAMES[coding] ?? `0x${coding.toString(16)}`;
    }
    // A padding byte follows a chunk of odd length.
    at += CHUNK_HEAD_BYTES + length + (length % 2);
  }
  return undefined;
}
