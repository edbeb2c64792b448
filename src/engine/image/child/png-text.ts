// Adds text to a PNG file, beside its pixels.

import { crc32 } from "node:zlib";

/** Bytes of the signature and the header chunk, which comes first in every file. */
const HEAD_BYTES = 8 + 25;

/** Adds an uncompressed iTXt chunk (text of any language) behind the header. `keyword`: 1 to 79 Latin letters. */
export function withText(png: Uint8Array, keyword: string, text: string): Uint8Array {
  // Keyword, uncompressed, compression method, no language, no translated keyword.
  const content = Buffer.concat([
    Buffer.from(`iTXt${keyword}\0\0\0\0\0`, "latin1"),
    Buffer.from(text.toWellFormed(), "utf8"),
  ]);
  const chunk = Buffer.alloc(content.length + 8);
  chunk.writeUInt32BE(content.length - 4);
  content.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(content), content.length + 4);
  return Buffer.concat([png.subarray(0, HEAD_BYTES), chunk, png.subarray(HEAD_BYTES)]);
}
