// Writes PNG files of kinds that encoders do not produce.

import { crc32, deflateSync } from "node:zlib";

const MAGIC = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

export interface PngHeader {
  readonly width: number;
  readonly height: number;
  /** 0: grey, 2: RGB, 3: palette, 6: RGBA. */
  readonly colour: 0 | 2 | 3 | 6;
  /** Bits per channel; default 8. */
  readonly bits?: number;
  readonly interlaced?: true;
}

export function pngChunk(type: string, data: Uint8Array): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, 4, "latin1");
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), data.length + 8);
  return chunk;
}

/** Returns a file with this header, these chunks and the end chunk. */
export function pngOfChunks(
  { width, height, colour, bits = 8, interlaced }: PngHeader,
  ...chunks: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([bits, colour, 0, 0, interlaced ? 1 : 0], 8);
  const end = pngChunk("IEND", new Uint8Array(0));
  return new Uint8Array(Buffer.concat([MAGIC, pngChunk("IHDR", header), ...chunks, end]));
}

/** Returns a file with these rows, each preceded by the number of its filter. */
export const pngOfRows = (header: PngHeader, rows: Uint8Array): Uint8Array<ArrayBuffer> =>
  pngOfChunks(header, pngChunk("IDAT", deflateSync(rows)));
