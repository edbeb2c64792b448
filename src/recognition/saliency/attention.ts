// Predicts where a viewer looks first: what an image's spectrum has beyond the smooth slope of most images (spectral
// residual, by Hou and Zhang).

import { Fourier, type Complex } from "../../audio/fourier.ts";
import type { Bitmap, Channels } from "../bitmap.ts";
import { heatMap } from "./heat-map.ts";

/** Longer side in pixels: at this size, objects are found and not their details. */
const SIDE = 64;
const BLUR = 2.5;

/** Returns how much each place of an image stands out, 255 the most. `channels`: its colours, or grey alone. */
export const attention = (channels: Channels): Bitmap => heatMap(channels, SIDE, BLUR, residual);

function residual({ width, height, data }: Bitmap): Float64Array {
  const image = { re: Float64Array.from(data), im: new Float64Array(data.length) };
  transform(image, width, height, "forward");
  const size = image.re.map((re, at) => Math.hypot(re, image.im[at] as number));
  const log = size.map((value) => Math.log(value + 1));
  const even = mean3(log, width, height);
  for (let at = 0; at < size.length; at++) {
    const rest = Math.exp((log[at] as number) - (even[at] as number));
    const factor = (size[at] as number) < 1e-6 ? 0 : rest / (size[at] as number);
    image.re[at] = (image.re[at] as number) * factor;
    image.im[at] = (image.im[at] as number) * factor;
  }
  transform(image, width, height, "inverse");
  return image.re.map((re, at) => re * re + (image.im[at] as number) ** 2);
}

/** Transforms rows, then columns, in place. */
function transform({ re, im }: Complex, width: number, height: number, direction: "forward" | "inverse"): void {
  const along = (length: number, count: number, at: (line: number, step: number) => number) => {
    const fourier = new Fourier(length);
    const line = { re: new Float64Array(length), im: new Float64Array(length) };
    for (let one = 0; one < count; one++) {
      for (let step = 0; step < length; step++) {
        line.re[step] = re[at(one, step)] as number;
        line.im[step] = im[at(one, step)] as number;
      }
      fourier[direction](line);
      for (let step = 0; step < length; step++) {
        re[at(one, step)] = line.re[step] as number;
        im[at(one, step)] = line.im[step] as number;
      }
    }
  };
  along(width, height, (row, x) => row * width + x);
  along(height, width, (column, y) => y * width + column);
}

/** Returns the mean of each value and its eight neighbours; a spectrum wraps around at its edges. */
function mean3(values: Float64Array, width: number, height: number): Float64Array {
  return values.map((_, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    let sum = 0;
    for (let dy = -1; dy <= 1; dy++) {
      for (let dx = -1; dx <= 1; dx++) {
        sum += values[((y + dy + height) % height) * width + ((x + dx + width) % width)] as number;
      }
    }
    return sum / 9;
  });
}
