// Where the eye goes in a picture, and a map of that as a file.

import type { Saliency, SaliencyTask } from "../../../domain/recognition.ts";
import { writeBmp } from "../../../media/pixels.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";
import { attention } from "../../../recognition/saliency/attention.ts";
import { objectness } from "../../../recognition/saliency/objectness.ts";
import { REGION_RULES, salientRegions } from "../../../recognition/saliency/salient-regions.ts";

const MAPS = { attention, objectness } as const;

/** Regions are in pixels of the picture, of which there is a bitmap a colour. */
export async function salienceOf(channels: readonly Bitmap[], { type, heatMap }: SaliencyTask): Promise<Saliency> {
  const [first] = channels;
  if (!first) return { regions: [] };
  const map = MAPS[type](channels);
  const regions = salientRegions(map, first, REGION_RULES[type]).map(({ box }) => box);
  return { regions, ...(heatMap && { heatMap: await pngOf(map) }) };
}

async function pngOf({ width, height, data }: Bitmap): Promise<Uint8Array> {
  const rgb = new Uint8Array(width * height * 3);
  data.forEach((value, at) => rgb.fill(value, at * 3, at * 3 + 3));
  return new Bun.Image(await writeBmp({ width, height, rgb }, new AbortController().signal)).png().bytes();
}
