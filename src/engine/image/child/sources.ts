// Decodes the image files of a request and brings them to the size that is drawn.

import type { Semaphore } from "../../../domain/semaphore.ts";
import { fieldError } from "../../../domain/errors.ts";
import type { ImageEdit, ImageSize, EditFile } from "../../../domain/image.ts";
import { decodePixels, decodeOpacity } from "../../../media/image.ts";
import { defaultMediaLimits, type MediaLimits } from "../../../media/limits.ts";
import { readOwnPng, writeBmp, type Opacity, type Pixels } from "../../../media/pixels.ts";
import { atField, checkSize } from "../../../media/refusal.ts";
import { neverAborted } from "../../../media/slices.ts";

export interface Sources {
  readonly image: Pixels;
  readonly references: readonly Pixels[];
  /** How opaque the mask is, in its own size: the image may have been shrunk. */
  readonly mask?: Opacity;
}

/** Pixels to which images are shrunk; far above the sizes that models draw. */
const LONGEST_SIDE = 4096;
const LONGEST_REFERENCE = 1024;

/**
 * `decoding`: memory for images that are decoded. Throws SvcError about a file that is no complete image or too large, or
 * the signal's reason.
 */
export async function readSources(
  { image, references = [], mask }: Pick<ImageEdit, "image" | "references" | "mask">,
  decoding: Semaphore,
  signal: AbortSignal,
): Promise<Sources> {
  const limits = { ...defaultMediaLimits, decoding };
  const pixels = await decode(image, LONGEST_SIDE, limits, signal);
  const others: Pixels[] = [];
  for (const reference of references) others.push(await decode(reference, LONGEST_REFERENCE, limits, signal));
  return { image: pixels, references: others, ...(mask && { mask: await readMask(mask, pixels, limits, signal) }) };
}

const decode = (source: EditFile, longestSide: number, limits: MediaLimits, signal: AbortSignal): Promise<Pixels> =>
  reading(source, (bytes) => decodePixels(bytes, longestSide, limits, signal));

async function readMask(
  source: EditFile,
  image: ImageSize,
  limits: MediaLimits,
  signal: AbortSignal,
): Promise<Opacity> {
  const mask = await reading(source, (bytes) => decodeOpacity(bytes, limits, signal));
  const refuse = (rule: string) => fieldError("invalid_value", source.field, `must be ${rule}`);
  // Stored as large as the image, but the image is shown turned.
  if (!isOfShape(mask, image)) {
    const { width, height } = mask;
    throw refuse(`of the shape of the upright image, ${image.width} : ${image.height}; got ${width} : ${height}`);
  }
  if (mask.data.every((opacity) => opacity === 255)) {
    throw refuse("transparent where the image is drawn anew; got one that is opaque everywhere");
  }
  return mask;
}

/** Returns whether a mask can be that of a shrunk image, whose sides were rounded. */
function isOfShape(mask: ImageSize, { width, height }: ImageSize): boolean {
  const scale = Math.max(width, height) / Math.max(mask.width, mask.height);
  return Math.abs(mask.width * scale - width) <= 1 && Math.abs(mask.height * scale - height) <= 1;
}

const reading = <T>({ path, field }: EditFile, use: (bytes: Uint8Array) => Promise<T>): Promise<T> =>
  atField(field, async () => {
    const bytes = await Bun.file(path).bytes();
    checkSize(bytes.length, defaultMediaLimits.maxImageBytes);
    return use(bytes);
  });

/** Returns the pixels in another size. Where the proportions differ, the image is cropped equally at both ends. */
export async function resized(pixels: Pixels, size: ImageSize): Promise<Pixels> {
  const { left, top, width, height } = middle(pixels, size);
  const cropped = { width, height, rgb: cut(pixels, { left, top, width, height }) };
  if (width === size.width && height === size.height) return cropped;
  const image = new Bun.Image(await writeBmp(cropped, neverAborted))
    .resize(size.width, size.height)
    .png({ compressionLevel: 0 });
  return readOwnPng(await image.bytes(), neverAborted);
}

/** Returns the mask in the size that is drawn: 255 where the image is drawn anew. Takes the nearest pixel. */
export function maskFor(opacity: Opacity, size: ImageSize): Uint8Array {
  const { left, top, width, height } = middle(opacity, size);
  const mask = new Uint8Array(size.width * size.height);
  for (let y = 0; y < size.height; y++) {
    const row = top + Math.floor(((y + 0.5) * height) / size.height);
    for (let x = 0; x < size.width; x++) {
      const column = left + Math.floor(((x + 0.5) * width) / size.width);
      mask[y * size.width + x] = 255 - (opacity.data[row * opacity.width + column] as number);
    }
  }
  return mask;
}

/** Returns drawn pixels inside the mask, original ones elsewhere: decoding alone changes every pixel a little. */
export function composed(drawn: Uint8Array, kept: Uint8Array, mask: Uint8Array): Uint8Array {
  const pixels = new Uint8Array(drawn.length);
  for (let at = 0; at < pixels.length; at++) {
    const share = (mask[Math.floor(at / 3)] as number) / 255;
    pixels[at] = Math.round((drawn[at] as number) * share + (kept[at] as number) * (1 - share));
  }
  return pixels;
}

interface Area extends ImageSize {
  readonly left: number;
  readonly top: number;
}

/** Returns the largest centered area that has the proportions of `like`. */
function middle({ width, height }: ImageSize, like: ImageSize): Area {
  const scale = Math.min(width / like.width, height / like.height);
  const size = {
    width: Math.max(1, Math.min(width, Math.round(like.width * scale))),
    height: Math.max(1, Math.min(height, Math.round(like.height * scale))),
  };
  return { ...size, left: Math.floor((width - size.width) / 2), top: Math.floor((height - size.height) / 2) };
}

function cut(from: Pixels, { left, top, width, height }: Area): Uint8Array {
  const out = new Uint8Array(3 * width * height);
  for (let y = 0; y < height; y++) {
    const start = 3 * ((top + y) * from.width + left);
    out.set(from.rgb.subarray(start, start + 3 * width), 3 * y * width);
  }
  return out;
}
