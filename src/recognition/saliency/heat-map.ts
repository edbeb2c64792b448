// Maps of how much places stand out.

import type { Bitmap, Channels } from "../bitmap.ts";
import { resize } from "../resample.ts";

/**
 * Adds up what `measure` finds in each of an image's channels, reduced to a longer side of `side` pixels, and blurs it
 * with a Gaussian of `sigma` pixels. The smallest sum becomes 0, the largest 255.
 */
export function heatMap(
  channels: Channels,
  side: number,
  sigma: number,
  measure: (small: Bitmap) => Float64Array,
): Bitmap {
  const [{ width, height }] = channels;
  const scale = Math.min(1, side / Math.max(width, height));
  const across = Math.max(1, Math.round(width * scale));
  const down = Math.max(1, Math.round(height * scale));
  const sum = new Float64Array(across * down);
  for (const channel of channels) {
    const found = measure(resize(channel, across, down));
    for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + (found[at] as number);
  }
  return scaled(blur(sum, across, down, sigma), across, down);
}

/** Scales values linearly, the smallest to 0 and the largest to 255. All become 0 when they are nearly equal. */
function scaled(values: Float64Array, width: number, height: number): Bitmap {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const isFlat = high - low <= 1e-9 * Math.max(1, Math.abs(high));
  const data = Uint8Array.from(values, (value) => (isFlat ? 0 : Math.round((255 * (value - low)) / (high - low))));
  return { width, height, data };
}

/** Blurs values with a Gaussian of `sigma` pixels. Values outside are those at the edge. */
export function blur(values: Float64Array, width: number, height: number, sigma: number): Float64Array {
  const reach = Math.ceil(3 * sigma);
  const bell = Float64Array.from({ length: 2 * reach + 1 }, (_, at) =>
    Math.exp(-((at - reach) ** 2) / (2 * sigma ** 2)),
  );
  const total = bell.reduce((sum, part) => sum + part, 0);
  const along = (from: Float64Array, steps: number, stride: number, lines: number, step: number) => {
    const out = new Float64Array(from.length);
    for (let line = 0; line < lines; line++) {
      for (let at = 0; at < steps; at++) {
        let sum = 0;
        for (let tap = -reach; tap <= reach; tap++) {
          const other = Math.max(0, Math.min(steps - 1, at + tap));
          sum += (from[line * step + other * stride] as number) * (bell[tap + reach] as number);
        }
        out[line * step + at * stride] = sum / total;
      }
    }
    return out;
  };
  return along(along(values, width, 1, height, width), height, width, width, 1);
}
