// Finds objects in front of a ground: what cannot be reached from an image's edge without a change of colour (minimum
// barrier distance, by Zhang et al.).

import type { Bitmap, Channels } from "../bitmap.ts";
import { blur, heatMap } from "./heat-map.ts";

/** Longer side in pixels. */
const SIDE = 96;
/** Sweeps over the image, alternately forward and backward; more have almost no effect. */
const SWEEPS = 4;
/** Sigma in pixels of the blur that removes paper grain and noise. */
const GRAIN = 1;

/** Returns how much each place belongs to an object, 255 the most. `channels`: the image's colours, or grey alone. */
export const objectness = (channels: Channels): Bitmap =>
  heatMap(channels, SIDE, GRAIN, ({ width, height, data }) =>
    barriers(blur(Float64Array.from(data), width, height, GRAIN), width, height),
  );

/** Returns for each pixel the smallest difference between highest and lowest value on any path to the edge. */
function barriers(values: Float64Array, width: number, height: number): Float64Array {
  const distance = new Float64Array(values.length);
  const high = new Float64Array(values);
  const low = new Float64Array(values);
  for (let y = 1; y < height - 1; y++) distance.fill(Infinity, y * width + 1, (y + 1) * width - 1);
  const relax = (at: number, from: number) => {
    const value = values[at] as number;
    const most = Math.max(high[from] as number, value);
    const least = Math.min(low[from] as number, value);
    if (most - least >= (distance[at] as number)) return;
    distance[at] = most - least;
    high[at] = most;
    low[at] = least;
  };
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    if (sweep % 2 === 0) {
      for (let at = width; at < values.length; at++) {
        if (at % width > 0) relax(at, at - 1);
        relax(at, at - width);
      }
    } else {
      for (let at = values.length - 1 - width; at >= 0; at--) {
        if (at % width < width - 1) relax(at, at + 1);
        relax(at, at + width);
      }
    }
  }
  return distance;
}
