// Opens pictures that the runtime decodes: PNG, JPEG, WebP, GIF and BMP.

import { decodePixels, measureImage } from "../../../media/image.ts";
import { defaultMediaLimits } from "../../../media/limits.ts";
import type { Pixels } from "../../../media/pixels.ts";
import { neverAborted } from "../../../media/slices.ts";
import type { DocumentPage, OpenDocument } from "./document.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { scaling } from "../../../recognition/projection.ts";
import { warp } from "../../../recognition/resample.ts";
import { channelOf, greyOf, turned } from "./grey.ts";
import { LONGEST_SIDE } from "./limits.ts";

/** A decoded picture. */
export interface Decoded extends Pixels {
  /** As in EXIF, 1 to 8; absent when the picture is upright. */
  readonly orientation?: number;
  /** Height of a pixel in widths; absent for squares. */
  readonly pixelHeight?: number;
}

/** Opens a picture as a document of one page. Its page throws Refusal when the picture is too large or damaged. */
export const openPicture = (bytes: Uint8Array): OpenDocument => singlePage(() => decode(bytes));

/** Returns a document whose only page is a picture. */
export const singlePage = (decodePicture: () => Promise<Decoded>): OpenDocument => ({
  pageCount: 1,
  page: async () => picturePage(await decodePicture()),
  close() {},
});

/** Returns a page that consists of a picture. */
export function picturePage(decoded: Decoded): DocumentPage {
  const { orientation = 1, pixelHeight = 1 } = decoded;
  const upright = (bitmap: Bitmap) => turned(withSquares(bitmap, pixelHeight), orientation);
  const bitmap = upright(greyOf(decoded));
  const { width, height } = bitmap;
  const colour = (at: number) => upright(channelOf(decoded, at));
  const picture = { bitmap, dotsPerInch: 0, scale: 1, channels: () => [colour(0), colour(1), colour(2)] as const };
  return { width, height, words: [], picture: async () => picture };
}

/** Stretches the shorter side of pixels that are no squares. */
function withSquares(bitmap: Bitmap, pixelHeight: number): Bitmap {
  if (pixelHeight === 1) return bitmap;
  const width = Math.min(LONGEST_SIDE, Math.round(bitmap.width / Math.min(1, pixelHeight)));
  const height = Math.min(LONGEST_SIDE, Math.round(bitmap.height * Math.max(1, pixelHeight)));
  return warp(bitmap, scaling(bitmap.width / width, bitmap.height / height), width, height, 255);
}

async function decode(bytes: Uint8Array): Promise<Decoded> {
  measureImage(bytes, { maxPixels: Infinity, longestSide: LONGEST_SIDE });
  const limits = { ...defaultMediaLimits, maxPixels: LONGEST_SIDE ** 2 };
  return decodePixels(bytes, LONGEST_SIDE, limits, neverAborted);
}
