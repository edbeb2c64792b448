// Reads the headers of PNG and GIF files.

import { dataView } from "../domain/data-view.ts";
import { exifOrientation } from "./exif.ts";
import type { ImageHeader } from "./image-header.ts";
import { MOST_CHUNKS } from "./webp-header.ts";

/** Chunk types as big-endian numbers, as in the file. */
const IHDR = 0x49484452;
const TRNS = 0x74524e53;
const EXIF = 0x65584966;
const IEND = 0x49454e44;

/** Reads a PNG, which ends with IEND; for an animated one, the picture that decoders without animation show. */
export function readPng(bytes: Uint8Array): ImageHeader | undefined {
  const view = dataView(bytes);
  if (view.getUint32(12) !== IHDR) return undefined;
  let alpha = (view.getUint8(25) & 4) !== 0;
  let exif: Uint8Array | undefined;
  let complete = false;
  for (let at = 8, chunks = 0; !complete && at + 12 <= bytes.length && chunks < MOST_CHUNKS; chunks++) {
    const length = view.getUint32(at);
    const type = view.getUint32(at + 4);
    if (type === TRNS) alpha = true;
    else if (type === EXIF) exif ??= bytes.subarray(at + 8, at + 8 + length);
    complete = type === IEND;
    at += 12 + length;
  }
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  const orientation = exif && exifOrientation(exif);
  return { ...size, complete, alpha, ...(orientation && { orientation }) };
}

/** Reads the first frame of a GIF, which is decoded alone, without the canvas around it. */
export function readGif(bytes: Uint8Array): ImageHeader | undefined {
  const view = dataView(bytes);
  let at = 13 + colorTableBytes(view.getUint8(10));
  let alpha = false;
  for (let blocks = 0; view.getUint8(at) !== 0x2c; blocks++) {
    if (view.getUint8(at) !== 0x21 || blocks === MOST_CHUNKS) return undefined;
    // Bit 0 of a graphic control extension's flags: there is a transparent colour.
    if (view.getUint8(at + 1) === 0xf9) alpha = (view.getUint8(at + 3) & 1) !== 0;
    const next = afterSubBlocks(bytes, at + 2);
    if (next === undefined) return undefined;
    at = next;
  }
  const width = view.getUint16(at + 5, true);
  const height = view.getUint16(at + 7, true);
  const data = at + 11 + colorTableBytes(view.getUint8(at + 9));
  return { width, height, alpha, complete: afterSubBlocks(bytes, data) !== undefined };
}

const colorTableBytes = (flags: number): number => (flags & 0x80 ? 3 << ((flags & 7) + 1) : 0);

/** Returns the end of the block whose sub-blocks begin here; undefined when the file ends first. */
function afterSubBlocks(bytes: Uint8Array, start: number): number | undefined {
  for (let at = start; at < bytes.length;) {
    const length = bytes[at] as number;
    at += 1 + length;
    if (length === 0) return at;
  }
  return undefined;
}
