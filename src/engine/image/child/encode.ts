// Encodes pixels as an image file; a PNG file may have text beside them.

import { crc32 } from "node:zlib";
import type { ImageEncoding, ImageSize } from "../../../domain/image.ts";
import { writeBmp, type Pixels } from "../../../media/pixels.ts";
import { neverAborted } from "../../../media/slices.ts";

const USUAL_QUALITY = 90;
/** Bytes of the signature and the header chunk, which come first in every PNG file. */
const HEAD_BYTES = 8 + 25;

/** Returns a file of this size, scaling the pixels if needed. `text`: stored in a PNG file if `withParameters` is set. */
export async function encoded(
  pixels: Pixels,
  size: ImageSize,
  { format, quality = USUAL_QUALITY, withParameters }: ImageEncoding,
  text?: string,
): Promise<Uint8Array> {
  const image = new Bun.Image(await writeBmp(pixels, neverAborted));
  if (pixels.width !== size.width || pixels.height !== size.height) image.resize(size.width, size.height);
  if (format === "jpeg") return image.jpeg({ quality: Math.max(1, quality) }).bytes();
  if (format === "webp") return image.webp({ quality }).bytes();
  const png = await image.png().bytes();
  return withParameters && text !== undefined ? withText(png, "parameters", text) : png;
}

/** Adds text of any language to a PNG file, as an uncompressed iTXt chunk. `keyword`: 1 to 79 Latin letters. */
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
