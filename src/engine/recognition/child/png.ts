// Writes bitmaps as a PNG file.

import { writeBmp } from "../../../media/pixels.ts";
import { neverAborted } from "../../../media/slices.ts";
import type { Channels } from "../../../recognition/bitmap.ts";

/** Returns a PNG of bitmaps for red, green and blue, or of one in grey; shrunk to `longestSide` pixels if larger. */
export async function pngOf(channels: Channels, longestSide?: number): Promise<Uint8Array> {
  const [{ width, height, data: red }, { data: green } = { data: red }, { data: blue } = { data: red }] = channels;
  const rgb = new Uint8Array(width * height * 3);
  for (let at = 0, to = 0; at < red.length; at++, to += 3) {
    rgb[to] = red[at] as number;
    rgb[to + 1] = green[at] as number;
    rgb[to + 2] = blue[at] as number;
  }
  const image = new Bun.Image(await writeBmp({ width, height, rgb }, neverAborted));
  if (longestSide !== undefined) image.resize(longestSide, longestSide, { fit: "inside", withoutEnlargement: true });
  return image.png().bytes();
}
