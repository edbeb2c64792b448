// Determines an MP3 file's duration by adding up its frames, since there is no header for the whole file.

import { tagBytes } from "../audio/decode/format.ts";
import { Refusal } from "./refusal.ts";
import { inSlices } from "./slices.ts";

/** kbit/s by the four bits in the frame header, for MPEG 1 and for MPEG 2 and 2.5. 0: not supported here. */
const bitrates = {
  full: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
  half: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
};
/** Hz for MPEG 1; MPEG 2 has half of it, MPEG 2.5 a quarter. */
const rates = [44_100, 48_000, 32_000, 0];
/** Maximum number of bytes before the first frame: there may be tags, or garbage where files were joined. */
const FARTHEST_START = 1 << 16;
/** Maximum number of tags at the beginning: a file of nothing but empty tags has millions. */
const MOST_TAGS = 100;

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

/** Returns an MP3 file's duration in seconds. Throws Refusal when it has no frames, or the signal's reason. */
export async function mp3Seconds(bytes: Uint8Array, signal: AbortSignal): Promise<number> {
  const first = firstFrame(bytes, afterTags(bytes));
  if (first === undefined) throw new Refusal("be MP3 audio", "an MP3 tag or header without sound behind it");
  let seconds = 0;
  let at = first;
  await inSlices(bytes.length - 3, signal, (_, to) => {
    while (at < to) {
      const frame = frameAt(bytes, at);
      seconds += frame?.seconds ?? 0;
      at += frame?.bytes ?? 1;
    }
  });
  return seconds;
}

/** Returns the offset after the ID3v2 tags at the beginning. */
function afterTags(bytes: Uint8Array): number {
  let at = 0;
  for (let tags = 0; tags < MOST_TAGS; tags++) at += tagBytes(bytes.subarray(at));
  return at;
}

/** Returns the offset of the first frame that another frame, or the end of the file, follows. */
function firstFrame(bytes: Uint8Array, start: number): number | undefined {
  const end = Math.min(bytes.length - 4, start + FARTHEST_START);
  for (let at = start; at <= end; at++) {
    const frame = frameAt(bytes, at);
    if (!frame) continue;
    const next = at + frame.bytes;
    if (next === bytes.length || frameAt(bytes, next)) return at;
  }
  return undefined;
}

function frameAt(bytes: Uint8Array, at: number): Frame | undefined {
  const kind = bytes[at + 1] ?? 0;
  const code = bytes[at + 2] ?? 0;
  // Eleven set bits, then two bits of version (1 is reserved) and two of layer (1 is layer III).
  if (bytes[at] !== 0xff || (kind & 0xe6) !== 0xe2) return undefined;
  const version = (kind >> 3) & 3;
  const full = version === 3;
  const bitrate = (full ? bitrates.full : bitrates.half)[code >> 4] ?? 0;
  const rate = (rates[(code >> 2) & 3] ?? 0) / (full ? 1 : version === 2 ? 2 : 4);
  if (version === 1 || bitrate === 0 || rate === 0) return undefined;
  const samples = full ? 1152 : 576;
  const padding = (code >> 1) & 1;
  return { bytes: Math.floor((samples * bitrate * 125) / rate) + padding, seconds: samples / rate };
}
