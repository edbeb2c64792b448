// Reads a WebP header, and the first picture of an animation, which the decoder cannot extract.

import { dataView } from "../domain/data-view.ts";
import { exifOrientation } from "./exif.ts";
import type { ImageHeader } from "./image-header.ts";

interface Chunk {
  /** Four characters, as in the file. */
  readonly type: string;
  /** The chunk with its eight bytes of type and length, padded to an even length. */
  readonly whole: Uint8Array;
  readonly data: Uint8Array;
}

/** Position, size, duration and flags of an animation frame, before its own chunks. */
const FRAME_HEAD = 16;
const HAS_ALPHA = 0x10;
/** Maximum number of chunks to read: a file of nothing but empty chunks has millions. */
export const MOST_CHUNKS = 10_000;

/** Reads the header; the size is that of the first picture, even when an animation's canvas is larger. */
export function readWebp(bytes: Uint8Array): ImageHeader | undefined {
  const view = dataView(bytes);
  const complete = bytes.length >= 8 + view.getUint32(4, true);
  const chunks = readChunks(bytes.subarray(12));
  const exif = chunks.find(({ type }) => type === "EXIF");
  const orientation = exif && exifOrientation(exif.data);
  const first = chunks.find(({ type }) => type === "ANMF");
  const picture = first ? frameHeader(first.data) : chunkHeader(chunks);
  return picture && { ...picture, complete, ...(orientation && { orientation }) };
}

type Picture = Pick<ImageHeader, "width" | "height" | "alpha" | "still">;

function chunkHeader(chunks: readonly Chunk[]): Picture | undefined {
  const [first] = chunks;
  if (!first) return undefined;
  const view = dataView(first.data);
  if (first.type === "VP8X") {
    return { width: u24(view, 4) + 1, height: u24(view, 7) + 1, alpha: (view.getUint8(0) & HAS_ALPHA) !== 0 };
  }
  if (first.type === "VP8L") {
    const bits = view.getUint32(1, true);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, alpha: ((bits >>> 28) & 1) === 1 };
  }
  if (first.type !== "VP8 ") return undefined;
  return { width: view.getUint16(6, true) & 0x3fff, height: view.getUint16(8, true) & 0x3fff, alpha: false };
}

/** An animation frame contains the same chunks as a still picture; a header makes it one. */
function frameHeader(frame: Uint8Array): Picture | undefined {
  const view = dataView(frame);
  const chunks = readChunks(frame.subarray(FRAME_HEAD)).filter(({ type }) => /^(ALPH|VP8 |VP8L)$/.test(type));
  if (chunks.length === 0) return undefined;
  const head = new Uint8Array(30);
  const write = new DataView(head.buffer);
  const length = chunks.reduce((sum, { whole }) => sum + whole.length, 0);
  head.set(new TextEncoder().encode("RIFF    WEBPVP8X"));
  write.setUint32(4, 22 + length, true);
  write.setUint32(16, 10, true);
  write.setUint8(20, HAS_ALPHA);
  // Width and height minus one, three bytes each, as in the frame.
  head.set(frame.subarray(6, 12), 24);
  const still = Buffer.concat([head, ...chunks.map(({ whole }) => whole)]);
  return { width: u24(view, 6) + 1, height: u24(view, 9) + 1, alpha: true, still };
}

function readChunks(bytes: Uint8Array): Chunk[] {
  const view = dataView(bytes);
  const chunks: Chunk[] = [];
  for (let at = 0; at + 8 <= bytes.length && chunks.length < MOST_CHUNKS;) {
    const type = String.fromCharCode(...bytes.subarray(at, at + 4));
    const length = view.getUint32(at + 4, true);
    const end = at + 8 + length;
    chunks.push({ type, data: bytes.subarray(at + 8, end), whole: bytes.subarray(at, end + (length & 1)) });
    at = end + (length & 1);
  }
  return chunks;
}

const u24 = (view: DataView, at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
