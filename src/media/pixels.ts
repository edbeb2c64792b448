// Converts between the decoder's output and pixels. Bun.Image does not return raw pixels, so they are read from an
// uncompressed PNG, at the cost of a copy, and passed back as BMP.

import { dataView } from "../domain/data-view.ts";
import { inSlices } from "./slices.ts";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Rows from the top, three bytes per pixel, without padding. */
  readonly rgb: Uint8Array;
}

/** Bytes to read or copy before other work may run, since many images may be processed at a time. */
const PIECE_BYTES = 1 << 19;
/** Bytes of zlib's header, and of the deflate header before each block. */
const ZLIB_HEAD = 2;
const BLOCK_HEAD = 5;
const BMP_HEAD = 54;

/** The opacity of an image's pixels. */
export interface Opacity {
  readonly width: number;
  readonly height: number;
  /** One byte per pixel; 255 is opaque. */
  readonly data: Uint8Array;
}

/**
 * Returns the pixels of a PNG that Bun.Image wrote at compression level 0 (8-bit RGBA, no row filter), on white. Throws
 * Error for any other PNG, or the signal's reason.
 */
export async function readOwnPng(png: Uint8Array, signal: AbortSignal): Promise<Pixels> {
  const { width, height } = ownPngSize(png);
  const rgb = new Uint8Array(width * height * 3);
  await eachRow(png, signal, (rgba, from, row) => onWhite(rgba, from, rgb, row * width * 3, width));
  return { width, height, rgb };
}

/** Returns the opacity of the pixels of such a PNG. */
export async function readOpacity(png: Uint8Array, signal: AbortSignal): Promise<Opacity> {
  const { width, height } = ownPngSize(png);
  const data = new Uint8Array(width * height);
  await eachRow(png, signal, (rgba, from, row) => {
    for (let x = 0; x < width; x++) data[row * width + x] = rgba[from + x * 4 + 3] as number;
  });
  return { width, height, data };
}

/** Returns the size of such a PNG in pixels. */
function ownPngSize(png: Uint8Array): { readonly width: number; readonly height: number } {
  const view = dataView(png);
  if (view.getUint32(24) !== 0x08060000) throw new Error("Bun.Image wrote a PNG that is not plain RGBA");
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** Calls `take` with each row; its pixels begin at `from` of `rgba`, a buffer that the next row overwrites. */
async function eachRow(
  png: Uint8Array,
  signal: AbortSignal,
  take: (rgba: Uint8Array, from: number, row: number) => void,
): Promise<void> {
  const { width, height } = ownPngSize(png);
  const line = new Uint8Array(1 + width * 4);
  let filled = 0;
  let row = 0;
  let read = 0;
  for (const bytes of imageData(png)) {
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + line.length - filled);
      line.set(piece, filled);
      at += piece.length;
      filled = (filled + piece.length) % line.length;
      if (filled > 0) continue;
      if (line[0] !== 0) throw new Error("Bun.Image wrote a PNG with filtered rows");
      take(line, 1, row++);
    }
    read += bytes.length;
    if (read < PIECE_BYTES) continue;
    read = 0;
    // A timer, since after native work Bun may delay an immediate until another event.
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  if (row !== height) throw new Error("Bun.Image wrote a PNG with missing rows");
}

/** Yields the contents of all IDAT chunks in place: stored blocks, which begin and end anywhere in the chunks. */
function* imageData(png: Uint8Array): Generator<Uint8Array> {
  const IDAT = 0x49444154;
  const view = dataView(png);
  let toSkip = ZLIB_HEAD;
  let head: number[] = [];
  let left = 0;
  for (let at = 8; at + 12 <= png.length; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) !== IDAT) continue;
    const end = at + 8 + view.getUint32(at);
    for (let from = at + 8; from < end;) {
      if (toSkip > 0) {
        toSkip--;
        from++;
      } else if (left > 0) {
        const to = Math.min(end, from + left);
        yield png.subarray(from, to);
        left -= to - from;
        from = to;
      } else if (head.push(view.getUint8(from++)) === BLOCK_HEAD) {
        const [kind = 0, low = 0, high = 0] = head;
        if (kind > 1) throw new Error("Bun.Image wrote a PNG that is compressed");
        left = low | (high << 8);
        head = [];
      }
    }
  }
}

/** Copies `count` RGBA pixels as RGB on white. */
export function onWhite(rgba: Uint8Array, from: number, rgb: Uint8Array, to: number, count: number): void {
  for (let pixel = 0, read = from, write = to; pixel < count; pixel++, read += 4, write += 3) {
    const alpha = rgba[read + 3] as number;
    for (let channel = 0; channel < 3; channel++) {
      const value = rgba[read + channel] as number;
      rgb[write + channel] = alpha === 255 ? value : ((value * alpha + 255 * (255 - alpha) + 127) / 255) | 0;
    }
  }
}

/** Encodes pixels as a BMP file, which Bun.Image can read. */
export async function writeBmp({ width, height, rgb }: Pixels, signal: AbortSignal): Promise<Uint8Array> {
  const stride = (width * 3 + 3) & ~3;
  const file = new Uint8Array(BMP_HEAD + stride * height);
  const view = new DataView(file.buffer);
  view.setUint16(0, 0x424d);
  view.setUint32(2, file.length, true);
  view.setUint32(10, BMP_HEAD, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  // A negative height means that rows start at the top.
  view.setInt32(22, -height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  const copyRows = (first: number, end: number): void => {
    for (let row = first; row < end; row++) {
      for (let from = row * width * 3, to = BMP_HEAD + row * stride, x = 0; x < width; x++, from += 3, to += 3) {
        file[to] = rgb[from + 2] as number;
        file[to + 1] = rgb[from + 1] as number;
        file[to + 2] = rgb[from] as number;
      }
    }
  };
  await inSlices(height, signal, copyRows, Math.max(1, Math.floor(PIECE_BYTES / (width * 3))));
  return file;
}
