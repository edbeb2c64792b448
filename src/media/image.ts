// Decodes image files: checks them, turns them upright, scales them, puts them on white, and returns plain pixels.

import type { ImageMedia } from "../domain/media.ts";
import { Semaphore } from "../domain/semaphore.ts";
import { systemErrorCode } from "../domain/system-error-code.ts";
import { upright } from "./exif.ts";
import { readImageHeader, type ImageHeader } from "./image-header.ts";
import type { MediaLimits } from "./limits.ts";
import { readOpacity, readOwnPng, writeBmp, type Opacity, type Pixels } from "./pixels.ts";
import { Refusal } from "./refusal.ts";
import { contentHash } from "./slices.ts";
import { describeType, imageFormat, type ImageFormat } from "./sniff.ts";

/** The longest side of a JPEG in pixels; other formats with images of this size do not need more. */
const LONGEST_SIDE = 65_535;

/** Bytes per pixel to decode an image at full size: two RGBA copies, one of them in a buffer that grew. */
const DECODING_BYTES = 11;

const FORMAT_NAMES: Readonly<Record<ImageFormat, string>> = {
  png: "PNG",
  jpeg: "JPEG",
  webp: "WebP",
  gif: "GIF",
  bmp: "BMP",
};

/** Decodes an image as `decodePixels` does, and identifies it by its pixels. */
export async function decodeImage(
  bytes: Uint8Array,
  maxSide: number,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<ImageMedia> {
  const { width, height, rgb } = await decodePixels(bytes, maxSide, limits, signal);
  return { kind: "image", id: await contentHash(`image ${width} ${height} `, rgb, signal), width, height, rgb };
}

/**
 * Decodes a PNG, JPEG, WebP, GIF (first frame) or BMP file, turns it upright and puts it on white. Shrinks it so that
 * its longest side is at most `maxSide` pixels; never enlarges it. Throws Refusal, or the signal's reason.
 */
export const decodePixels = (
  bytes: Uint8Array,
  maxSide: number,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<Pixels> =>
  opened(bytes, limits, signal, (picture, alpha) => render(picture, alpha, maxSide, limits.maxPixels, signal));

/** Returns the opacity of such a file's pixels, upright and in full size. Throws Refusal, or the signal's reason. */
export const decodeOpacity = (bytes: Uint8Array, limits: MediaLimits, signal: AbortSignal): Promise<Opacity> =>
  opened(bytes, limits, signal, async (picture) => readOpacity(await plainPng(picture, limits.maxPixels), signal));

/** Checks the header, waits for memory, then calls `use` to decode the file. */
async function opened<T>(
  bytes: Uint8Array,
  { maxPixels, decoding = new Semaphore(Number.POSITIVE_INFINITY) }: MediaLimits,
  signal: AbortSignal,
  use: (picture: Picture, alpha: boolean) => Promise<T>,
): Promise<T> {
  const header = measureImage(bytes, { maxPixels });
  try {
    return await decoding.run(header.width * header.height * DECODING_BYTES, signal, async () => {
      const file = header.pixels ? await writeBmp(await header.pixels(signal), signal) : (header.still ?? bytes);
      return use({ bytes: file, orientation: header.orientation ?? 1 }, header.alpha);
    });
  } catch (error) {
    throw asRefusal(error, header.format, maxPixels);
  }
}

export interface MeasuredImage extends ImageHeader {
  readonly format: ImageFormat;
}

const ALL_FORMATS = Object.keys(FORMAT_NAMES) as readonly ImageFormat[];

interface AcceptedImages {
  readonly maxPixels: number;
  /** In pixels. */
  readonly longestSide?: number;
  readonly formats?: readonly ImageFormat[];
}

/** Reads and checks a file's header. Throws Refusal. */
export function measureImage(
  bytes: Uint8Array,
  { maxPixels, longestSide = LONGEST_SIDE, formats = ALL_FORMATS }: AcceptedImages,
): MeasuredImage {
  const format = imageFormat(bytes);
  if (!format || !formats.includes(format)) {
    const known = formats.map((one) => FORMAT_NAMES[one]);
    const rule = `be a ${known.slice(0, -1).join(", ")} or ${known.at(-1)} image`;
    throw new Refusal(rule, describeType(bytes));
  }
  const header = readImageHeader(format, bytes);
  const name = FORMAT_NAMES[format];
  if (!header) throw new Refusal("be a whole image", `a ${name} file without a readable header`);
  const { width, height, complete } = header;
  const size = `${width} × ${height} pixels`;
  if (width === 0 || height === 0) throw new Refusal("have pixels", `a ${name} image of ${size}`);
  if (width * height > maxPixels) {
    throw new Refusal(
      `have at most ${maxPixels / 1e6} megapixels`,
      `${size}, ${Math.round((width * height) / 1e6)} megapixels`,
    );
  }
  if (Math.max(width, height) > longestSide) throw new Refusal(`be at most ${longestSide} pixels a side`, size);
  if (!complete) throw new Refusal("be a whole image", `a ${name} file that is cut off`);
  return { format, ...header };
}

interface Picture {
  readonly bytes: Uint8Array;
  readonly orientation: number;
}

/** Puts transparent pixels on white at full size first: Bun.Image would blend in their colour when it scales. */
async function render(
  picture: Picture,
  alpha: boolean,
  maxSide: number,
  maxPixels: number,
  signal: AbortSignal,
): Promise<Pixels> {
  if (!alpha) return decode(picture, maxPixels, signal, maxSide);
  const full = await decode(picture, maxPixels, signal);
  if (Math.max(full.width, full.height) <= maxSide) return full;
  const onWhite = await writeBmp(full, signal);
  release(full.rgb);
  const scaled = await decode({ bytes: onWhite, orientation: 1 }, maxPixels, signal, maxSide);
  release(onWhite);
  return scaled;
}

async function decode(picture: Picture, maxPixels: number, signal: AbortSignal, maxSide?: number): Promise<Pixels> {
  const png = await plainPng(picture, maxPixels, maxSide);
  const pixels = await readOwnPng(png, signal);
  release(png);
  return pixels;
}

/** Encodes a picture as the uncompressed PNG that `readOwnPng` and `readOpacity` read. */
function plainPng(picture: Picture, maxPixels: number, maxSide?: number): Promise<Uint8Array> {
  const image = upright(new Bun.Image(picture.bytes, { maxPixels }), picture.orientation);
  if (maxSide !== undefined) image.resize(maxSide, maxSide, { fit: "inside", withoutEnlargement: true });
  return image.png({ compressionLevel: 0 }).bytes();
}

/** Frees memory that nothing else refers to: before garbage collection, the next image would allocate as much again. */
export const release = ({ buffer }: Uint8Array): void => void (buffer as ArrayBuffer).transfer(0);

/** Converts a decoder error. The decoder's message is dropped: it may contain content of the file. */
function asRefusal(error: unknown, format: ImageFormat, maxPixels: number): unknown {
  const code = systemErrorCode(error);
  if (code === "ERR_IMAGE_TOO_MANY_PIXELS") {
    return new Refusal(`have at most ${maxPixels / 1e6} megapixels`, `a ${FORMAT_NAMES[format]} image of more`);
  }
  if (
    code === "ERR_IMAGE_DECODE_FAILED" ||
    code === "ERR_IMAGE_UNKNOWN_FORMAT" ||
    code === "ERR_IMAGE_FORMAT_UNSUPPORTED"
  ) {
    return new Refusal("be an image that can be decoded", `a damaged or unsupported ${FORMAT_NAMES[format]} file`);
  }
  return error;
}
