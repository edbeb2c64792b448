// How opaque the pixels of an image are.

import { inflateSync } from "node:zlib";
import { upright } from "../../../media/exif.ts";
import { readImageHeader } from "../../../media/image-header.ts";
import { imageFormat } from "../../../media/sniff.ts";

export interface Opacity {
  readonly width: number;
  readonly height: number;
  /** A byte a pixel, 255 is opaque. */
  readonly data: Uint8Array;
}

const IDAT = 0x49444154;
const PLAIN_RGBA = 0x08060000;

/** Of an image file that can be decoded. Bun.Image gives no raw pixels, so they travel as a PNG that is not compressed. */
export async function opacityOf(bytes: Uint8Array, maxPixels: number): Promise<Opacity> {
  const format = imageFormat(bytes);
  const header = format && readImageHeader(format, bytes);
  const image = upright(new Bun.Image(header?.still ?? bytes, { maxPixels }), header?.orientation ?? 1);
  const png = await image.png({ compressionLevel: 0 }).bytes();
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  if (view.getUint32(24) !== PLAIN_RGBA) throw new Error("Bun.Image wrote a PNG that is not plain RGBA");
  const rows = inflateSync(Buffer.concat(chunksOf(png, view)));
  const stride = 1 + width * 4;
  const data = new Uint8Array(width * height);
  for (let at = 0; at < data.length; at++) {
    data[at] = rows[Math.floor(at / width) * stride + 4 + (at % width) * 4] as number;
  }
  return { width, height, data };
}

/** Contents of the chunks with pixels. */
function chunksOf(png: Uint8Array, view: DataView): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 8; at + 12 <= png.length; at += 12 + view.getUint32(at)) {
    if (view.getUint32(at + 4) === IDAT) chunks.push(png.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  return chunks;
}
