// Pictures that the runtime decodes: PNG, JPEG, WebP, GIF and BMP.

import { decodeImage } from "../../../media/image.ts";
import { readImageHeader } from "../../../media/image-header.ts";
import { defaultMediaLimits } from "../../../media/limits.ts";
import { Refusal } from "../../../media/refusal.ts";
import { imageFormat } from "../../../media/sniff.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import type { OpenDocument } from "./document.ts";
import { greyOf } from "./grey.ts";
import { checkSides, LONGEST_SIDE, unreadable } from "./limits.ts";

/** A document of one page. Throws SvcError about a picture that is too large. */
export function openPicture(bytes: Uint8Array, field: string): OpenDocument {
  return singlePage(() => decode(bytes, field));
}

/** A document whose only page is a picture. */
export function singlePage(decodePicture: () => Promise<Bitmap>): OpenDocument {
  return {
    pageCount: 1,
    async page() {
      const bitmap = await decodePicture();
      const { width, height } = bitmap;
      return { width, height, words: [], picture: async () => ({ bitmap, dotsPerInch: 0, scale: 1 }) };
    },
    close() {},
  };
}

async function decode(bytes: Uint8Array, field: string): Promise<Bitmap> {
  const format = imageFormat(bytes);
  try {
    const header = format && readImageHeader(format, bytes);
    if (header) checkSides(header.width, header.height, field);
    const limits = { ...defaultMediaLimits, maxPixels: LONGEST_SIDE ** 2 };
    const { width, height, rgb } = await decodeImage(bytes, LONGEST_SIDE, limits, new AbortController().signal);
    return greyOf(rgb, width, height, 3);
  } catch (error) {
    throw error instanceof Refusal ? unreadable(field, error.got) : error;
  }
}
