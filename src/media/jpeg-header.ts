// The header of a JPEG file: its size, and whether it is all there. The decoder would show what is missing as grey.

import { dataView } from "../domain/data-view.ts";
import type { ImageHeader } from "./image-header.ts";
import { Refusal } from "./refusal.ts";

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** A file of nothing but fill bytes and empty segments has millions. */
const MOST_STEPS = 100_000;
/** A decoder passes over the whole image for each, which may have some bytes. Encoders make ten, the thorough ones dozens. */
const MOST_SCANS = 100;

/**
 * Walks the segments up to the end of the image. Orientation is left out: the decoder applies it by itself. Throws Refusal
 * for more scans than images have.
 */
export function readJpeg(bytes: Uint8Array): ImageHeader | undefined {
  const view = dataView(bytes);
  let size: { width: number; height: number } | undefined;
  let scans = 0;
  let complete = false;
  for (let at = 2, steps = 0; !complete && at + 2 <= bytes.length && steps < MOST_STEPS; steps++) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff || marker === 0xff) {
      // Fill bytes, or garbage between segments that decoders skip as well.
      at++;
      continue;
    }
    // Before the first scan it would be the end of nothing.
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

/** SOF0 to SOF15; DHT, JPG and DAC have numbers between them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** Stuffing, TEM, RST0 to RST7, SOI. */
const hasNoLength = (marker: number): boolean => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/** Where the next marker is, other than those of coded data itself. */
function afterCodedData(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] !== 0xff || hasNoLength(bytes[at + 1] ?? 0))) at++;
  return at;
}
