// Pixels as a file.

import type { ImageEncoding, ImageSize } from "../../../domain/image.ts";
import { writeBmp, type Pixels } from "../../../media/pixels.ts";
import { withText } from "./png-text.ts";

const USUAL_QUALITY = 90;
const always = new AbortController().signal;

/** An image of this size, enlarged where it has less pixels. `text`: a PNG file has it, where that is wanted. */
export async function encoded(
  pixels: Pixels,
  size: ImageSize,
  { format, quality = USUAL_QUALITY, tellsHow }: ImageEncoding,
  text?: string,
): Promise<Uint8Array> {
  const image = new Bun.Image(await writeBmp(pixels, always));
  if (pixels.width !== size.width || pixels.height !== size.height) image.resize(size.width, size.height);
  if (format === "jpeg") return image.jpeg({ quality: Math.max(1, quality) }).bytes();
  if (format === "webp") return image.webp({ quality }).bytes();
  const png = await image.png().bytes();
  return tellsHow && text !== undefined ? withText(png, "parameters", text) : png;
}
