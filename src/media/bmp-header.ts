// Reads the header of a BMP file, and the pixels of one with a palette, which the decoder does not support.

import { dataView } from "../domain/data-view.ts";
import type { ImageHeader } from "./image-header.ts";
import type { Pixels } from "./pixels.ts";
import { Refusal } from "./refusal.ts";
import { inSlices } from "./slices.ts";

const FILE_HEAD = 14;
/** Size of the oldest kind of header: its sizes have 16 bits, and its colours three bytes. */
const OLD_HEAD = 12;
const PALETTES: ReadonlySet<number> = new Set([1, 4, 8]);
/** Pixels per slice. */
const SLICE = 1 << 20;

/** Reads the header. Throws Refusal for a BMP with 16 bits per pixel, or with a palette and compressed rows. */
export function readBmp(bytes: Uint8Array): ImageHeader | undefined {
  const view = dataView(bytes);
  const head = view.getUint32(FILE_HEAD, true);
  const old = head === OLD_HEAD;
  const across = old ? view.getUint16(18, true) : view.getInt32(18, true);
  const down = old ? view.getUint16(20, true) : view.getInt32(22, true);
  const bits = view.getUint16(old ? 24 : 28, true);
  // A negative height means that rows start at the top.
  const size = { width: Math.max(0, across), height: Math.abs(down) };
  // The decoder fails when rows are missing.
  if (bits === 24 || bits === 32) return { ...size, complete: true, alpha: bits === 32 };
  if (!PALETTES.has(bits)) throw refusal(`a BMP of ${bits} bits a pixel`);
  if (!old && view.getUint32(30, true) !== 0) throw refusal("a compressed BMP");
  const from = view.getUint32(10, true);
  const rowBytes = Math.ceil((size.width * bits) / 32) * 4;
  const palette = paletteOf(bytes.subarray(FILE_HEAD + head, from), 1 << bits, old ? 3 : 4);
  const rows = { ...size, bits, rowBytes, bytes: bytes.subarray(from), isFromTop: down < 0, palette };
  return {
    ...size,
    complete: from + rowBytes * size.height <= bytes.length,
    alpha: false,
    pixels: (signal) => coloured(rows, signal),
  };
}

const refusal = (got: string) =>
  new Refusal("be an uncompressed BMP of 1, 4, 8, 24 or 32 bits a pixel, or another image format", got);

/** Returns red, green and blue of each colour; colours missing in the file are black. */
function paletteOf(entries: Uint8Array, count: number, bytesEach: number): Uint8Array {
  const palette = new Uint8Array(count * 3);
  const there = Math.min(count, Math.floor(entries.length / bytesEach));
  for (let colour = 0; colour < there; colour++) {
    const at = colour * bytesEach;
    palette.set(entries.subarray(at, at + 3).toReversed(), colour * 3);
  }
  return palette;
}

interface Rows {
  readonly width: number;
  readonly height: number;
  /** Bits per pixel. A pixel is a palette index; the leftmost one has the highest bits of its byte. */
  readonly bits: number;
  readonly rowBytes: number;
  readonly bytes: Uint8Array;
  readonly isFromTop: boolean;
  readonly palette: Uint8Array;
}

async function coloured(rows: Rows, signal: AbortSignal): Promise<Pixels> {
  const { width, height, bits, rowBytes, bytes, isFromTop, palette } = rows;
  const rgb = new Uint8Array(width * height * 3);
  const mask = (1 << bits) - 1;
  const paint = (first: number, end: number): void => {
    for (let y = first; y < end; y++) {
      const row = (isFromTop ? y : height - 1 - y) * rowBytes;
      for (let x = 0, to = y * width * 3; x < width; x++, to += 3) {
        const bit = x * bits;
        const byte = bytes[row + (bit >>> 3)] as number;
        const colour = ((byte >>> (8 - bits - (bit & 7))) & mask) * 3;
        rgb[to] = palette[colour] as number;
        rgb[to + 1] = palette[colour + 1] as number;
        rgb[to + 2] = palette[colour + 2] as number;
      }
    }
  };
  await inSlices(height, signal, paint, Math.max(1, Math.floor(SLICE / width)));
  return { width, height, rgb };
}
