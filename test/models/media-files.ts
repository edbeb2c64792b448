// Computed pictures and sounds, and just enough of PNG to write them.

import { pngOfRows } from "../support/png.ts";
import { wavOf } from "../support/wav.ts";

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Three bytes per pixel, rows from the top. */
  readonly rgb: Uint8Array;
}

const CHANNELS = 3;

/** Returns gradients and edges in all three colours; another `seed` gives another picture. */
export function picture(width: number, height: number, seed = 1): Picture {
  const rgb = new Uint8Array(width * height * CHANNELS);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const disc = (x - width / 2) ** 2 + (y - height / 3) ** 2 < (Math.min(width, height) / 4) ** 2 ? 255 : 40;
      rgb.set([(x * 5 * seed) & 0xff, (y * 3 + 60 * seed) & 0xff, disc], (y * width + x) * CHANNELS);
    }
  }
  return { width, height, rgb };
}

export function pngFile({ width, height, rgb }: Picture): Uint8Array {
  const stride = width * CHANNELS;
  const rows = Buffer.alloc(height * (stride + 1));
  for (let y = 0; y < height; y++) rows.set(rgb.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  return pngOfRows({ width, height, colour: 2 }, rows);
}

/** Returns a rising tone, 16 bits, mono. */
export function wavFile(seconds: number, rate: number): Uint8Array {
  const samples = Int16Array.from({ length: Math.round(seconds * rate) }, (_, index) => {
    const time = index / rate;
    return Math.round(12_000 * Math.sin(2 * Math.PI * (200 + 40 * time) * time));
  });
  return wavOf(samples, rate);
}
