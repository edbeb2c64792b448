// A picture whose left half is not opaque.

import { pngOfRows } from "./png.ts";

/** Returns a white PNG whose left half has this opacity, from 0 to 255. */
export function transparentPng(width: number, height: number, opacity: number): Uint8Array<ArrayBuffer> {
  const rows = Buffer.alloc(height * (1 + width * 4), 255);
  for (let y = 0; y < height; y++) {
    rows[y * (1 + width * 4)] = 0;
    for (let x = 0; x < width / 2; x++) rows[y * (1 + width * 4) + 4 + x * 4] = opacity;
  }
  return pngOfRows({ width, height, colour: 6 }, rows);
}
