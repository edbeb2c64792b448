// Encodes pixels as an image file.

import type { ImageEncoding, ImageSize } from "../../../domain/image.ts";
import { writeBmp, type Pixels } from "../../../media/pixels.ts";
import { neverAborted } from "../../../media/slices.ts";
import { withText } from "./png-text.ts";

const USUAL_QUALITY = 90;

/** Returns a file of this size, scaling the pixels if needed. `text`: stored in a PNG file if `tellsHow` is set. */
export async function encoded(
  pixels: Pixels,
  size: ImageSize,
  { format, quality = USUAL_QUALITY, tellsHow }: ImageEncoding,
  text?: string,
): Promise<Uint8Array> {
  const image = new Bun.Image(await writeBmp(pixels, neverAborted));
  if (pixels.width !== size.width || pixels.height !== size.height) image.resize(size.width, size.height);
  if (format === "jpeg") return image.jpeg({ quality: Math.max(1, quality) }).bytes();
  if (format === "webp") return image.webp({ quality }).bytes();
  const png = await image.png().bytes();
  return tellsHow && text !== undefined ? withText(png, "parameters", text) : png;
}
