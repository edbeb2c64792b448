// Finds the places of a heat map that stand out, as boxes in the image.

import type { Box } from "../../domain/recognition.ts";
import type { Bitmap } from "../bitmap.ts";
import { components, regions } from "../components.ts";
import { histogram, split } from "../ink.ts";

interface RegionRule {
  /** Threshold as a multiple of the map's mean; absent: the value that best splits the map into high and low. */
  readonly timesMean?: number;
  /** Minimum share of the image for a region; `most`: number of regions. */
  readonly least: number;
  readonly most: number;
}

/** Rules for a map of attention and a map of objects. */
export const REGION_RULES = {
  attention: { timesMean: 3, least: 0.002, most: 5 },
  objectness: { least: 0.004, most: 10 },
} as const satisfies Record<string, RegionRule>;

/** Returns boxes around high places of the map, in pixels of an image of this size, the most salient first. */
export function salientRegions(map: Bitmap, image: Omit<Bitmap, "data">, rule: RegionRule): Box[] {
  const threshold =
    rule.timesMean === undefined ? split(histogram(map)).threshold + 1 : rule.timesMean * mean(map.data);
  if (threshold < 1) return [];
  const high = map.data.map((value) => (value >= Math.min(255, threshold) ? 1 : 0));
  const runs = regions({ ...map, data: high });
  const [across, down] = [image.width / map.width, image.height / map.height];
  const sums = new Map<number, number>();
  for (let at = 0; at < runs.count; at++) {
    const row = (runs.row[at] as number) * map.width;
    for (let x = runs.start[at] as number; x < (runs.end[at] as number); x++) {
      const region = runs.region[at] as number;
      sums.set(region, (sums.get(region) ?? 0) + (map.data[row + x] as number));
    }
  }
  return components(runs, rule.least * map.data.length)
    .map((one) => ({ one, sum: sums.get(one.region) ?? 0 }))
    .sort((a, b) => b.sum - a.sum)
    .slice(0, rule.most)
    .map(({ one }) => enlarged(one, across, down));
}

const mean = (values: Uint8Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function enlarged({ x, y, width, height }: Box, across: number, down: number): Box {
  const [left, top] = [Math.floor(x * across), Math.floor(y * down)];
  return {
    x: left,
    y: top,
    width: Math.ceil((x + width) * across) - left,
    height: Math.ceil((y + height) * down) - top,
  };
}
