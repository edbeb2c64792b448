// The header of a JPEG file: its size, and whether it is all there. The decoder would show what is missing as grey.

import type { ImageHeader } from "./image-header.ts";

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = Uint8Array.of(0xff, 0xd9);
/** A file of nothing but fill bytes and empty segments has millions. */
const MOST_STEPS = 100_000;

/** Walks the segments up to the first scan. Orientation is left out: the decoder applies it by itself. */
export function readJpeg(bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size: { width: number; height: number } | undefined;
  for (let at = 2, steps = 0; at + 4 <= bytes.length && steps < MOST_STEPS; steps++) {
    const marker = view.getUint8(at + 1);
    if (view.getUint8(at) !== 0xff || marker === 0xff) {
      // Fill bytes, or garbage between segments that decoders skip as well.
      at++;
      continue;
    }
    if (hasNoLength(marker)) {
      at += 2;
      continue;
    }
    if (isFrame(marker)) size ??= { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + Math.max(2, view.getUint16(at + 2));
    if (marker === START_OF_SCAN) return size && { ...size, complete: endsAfter(bytes, at), alpha: false };
  }
  return size && { ...size, complete: false, alpha: false };
}

/** SOF0 to SOF15; DHT, JPG and DAC have numbers between them. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** Stuffing, TEM, RST0 to RST7, SOI. */
const hasNoLength = (marker: number): boolean => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8);

/** Coded data cannot contain a marker, so the end marker is the end, and not part of a thumbnail. */
function endsAfter(bytes: Uint8Array, start: number): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(END_OF_IMAGE, start);
}
