// Finds where viewers look in a picture, and draws a map of it.

import type { Saliency, SaliencyTask } from "../../../domain/recognition.ts";
import type { Channels } from "../../../recognition/bitmap.ts";
import { attention } from "../../../recognition/saliency/attention.ts";
import { objectness } from "../../../recognition/saliency/objectness.ts";
import { REGION_RULES, salientRegions } from "../../../recognition/saliency/salient-regions.ts";
import { pngOf } from "./png.ts";

const MAPS = { attention, objectness } as const;

/** Returns the regions in pixels of the picture, which is given as one bitmap per colour. */
export async function salienceOf(channels: Channels, { type, heatMap }: SaliencyTask): Promise<Saliency> {
  const map = MAPS[type](channels);
  const regions = salientRegions(map, channels[0], REGION_RULES[type]);
  return { regions, ...(heatMap && { heatMap: await pngOf([map]) }) };
}
