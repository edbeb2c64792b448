// Determines a FLAC file's duration by counting frames: headers may omit it or lie, and silence compresses 10,000 to 1.

import { crc } from "../audio/crc.ts";
import { tagBytes } from "../audio/decode/format.ts";
import { dataView } from "../domain/data-view.ts";
import { Refusal } from "./refusal.ts";
import { inSlices } from "./slices.ts";

/** Bytes of magic number, block header and STREAMINFO. */
const HEAD_BYTES = 4 + 4 + 34;
/** Bytes to search per slice; the search is slow where every second byte might begin a frame. */
const SEARCH_BYTES = 1 << 17;
/** A frame header has 6 to 16 bytes; the last one is its checksum. */
const LONGEST_HEADER = 16;
/** Maximum number of metadata blocks: a file of nothing but empty ones has millions. */
const MOST_BLOCKS = 1000;
const headerChecksum = crc(8, 0x07);

/**
 * Returns the duration of a FLAC file in seconds, from its frame headers. Throws Refusal when its header is invalid or
 * no frame follows, or the signal's reason.
 */
export async function flacSeconds(file: Uint8Array, signal: AbortSignal): Promise<number> {
  const bytes = file.subarray(tagBytes(file));
  const view = dataView(bytes);
  if (bytes.length < HEAD_BYTES || (view.getUint32(4) & 0x7fff_ffff) !== 34) {
    throw new Refusal("be a whole FLAC file", "one without stream information");
  }
  const rate = view.getUint32(18) >>> 12;
  if (rate === 0) throw new Refusal("be FLAC with a sample rate", "0 Hz");
  let samples = 0;
  const first = firstFrame(view);
  const count = (from: number, to: number): void => {
    for (let at = first + from; at < first + to; at++) {
      if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xfc) !== 0xf8) continue;
      samples += frameSamples(bytes.subarray(at, at + LONGEST_HEADER));
    }
  };
  await inSlices(bytes.length - first, signal, count, SEARCH_BYTES);
  if (samples === 0) throw new Refusal("have sound in it", "a FLAC file without frames");
  return samples / rate;
}

/** Returns the offset after the metadata blocks, the last of which has the top bit set; the file's end without one. */
function firstFrame(view: DataView): number {
  for (let at = 4, blocks = 0; at + 4 <= view.byteLength && blocks < MOST_BLOCKS; blocks++) {
    const head = view.getUint32(at);
    at += 4 + (head & 0xff_ffff);
    if (head >>> 31) return at;
  }
  return view.byteLength;
}

/** Returns the samples per channel of the frame whose header begins here; 0 when it is not a header. */
function frameSamples(header: Uint8Array): number {
  const [, , codes = 0, channels = 0, number = 0] = header;
  const size = codes >> 4;
  const rate = codes & 15;
  if (size === 0 || rate === 15 || channels >> 4 > 10 || (channels & 1) === 1) return 0;
  // The frame number is encoded like a UTF-8 character, of up to 36 bits.
  const numberBytes = number < 0x80 ? 1 : Math.clz32(~(number << 24));
  if (numberBytes > 7 || (number >= 0x80 && numberBytes < 2)) return 0;
  const sizeAt = 4 + numberBytes;
  const sizeBytes = size === 6 ? 1 : size === 7 ? 2 : 0;
  const rateBytes = rate === 12 ? 1 : rate === 13 || rate === 14 ? 2 : 0;
  const end = sizeAt + sizeBytes + rateBytes;
  if (end >= header.length || headerChecksum(header.subarray(0, end)) !== header[end]) return 0;
  if (size === 6) return (header[sizeAt] as number) + 1;
  if (size === 7) return (((header[sizeAt] as number) << 8) | (header[sizeAt + 1] as number)) + 1;
  if (size === 1) return 192;
  return size < 6 ? 576 << (size - 2) : 256 << (size - 8);
}
