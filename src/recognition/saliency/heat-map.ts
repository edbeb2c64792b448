// Maps of how much places stand out.

import type { Bitmap } from "../bitmap.ts";

/** Scales values linearly, the smallest to 0 and the largest to 255. All become 0 when they are nearly equal. */
export function heatMap(values: Float64Array, width: number, height: number): Bitmap {
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
