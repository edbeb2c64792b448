// Reads a JPEG's size, and whether it is complete: the decoder would show missing parts as grey.

import { dataView } from "../domain/data-view.ts";
import type { ImageHeader } from "./image-header.ts";
import { Refusal } from "./refusal.ts";

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Maximum number of segments and fill bytes to read: a file of nothing else can have millions. */
const MOST_STEPS = 100_000;
/**
 * Maximum number of scans. The decoder passes over the whole image for each, even if it has only a few bytes. Encoders
 * make ten, thorough ones dozens.
 */
const MOST_SCANS = 100;

/**
 * Walks the segments to the end of the image. Omits the orientation, which the decoder applies. Throws Refusal for more
 * scans than real images have.
 */
export function readJpeg(bytes: Uint8Array): ImageHeader | undefined {
  const view = dataView(bytes);
  let size: { width: number; height: number } | undefined;
  let scans = 0;
  let complete = false;
  for (let at = 2, steps = 0; !complete && at + 2 <= bytes.length && steps < MOST_STEPS; steps++) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff || marker === 0xff) {
      // Fill bytes, or garbage between segments, which decoders skip as well.
      at++;
      continue;
    }
    // Before the first scan, this marker ends nothing.
    complete = marker === END_OF_IMAGE && scans > 0;
    if (complete || hasNoLength(marker)) {
      at += 2;
      continue;
    }
    if (at + 4 > bytes.length) break;
    if (isFrame(marker)) size ??= { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + Math.max(2, view.getUint16(at + 2));
    if (marker !== START_OF_SCAN) continue;
    if (++scans > MOST_SCANS)
      throw new Refusal(`have at most ${MOST_SCANS} scans`, `a JPEG file of more than ${MOST_SCANS} scans`);
    at = afterCodedData(bytes, at);
  }
  return size && { ...size, complete, alpha: false };
}

/** Returns whether the marker is SOF0 to SOF15, among which DHT, JPG and DAC have numbers, too. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** Returns whether the marker is stuffing, TEM, RST0 to RST7 or SOI. */
const hasNoLength = (marker: number): boolean => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/** Returns the offset of the next marker that is not part of coded data. */
function afterCodedData(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] !== 0xff || hasNoLength(bytes[at + 1] ?? 0))) at++;
  return at;
}
