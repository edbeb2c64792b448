// Removes single pixels that differ from all their neighbours, as sensors and bad copies produce them.

import type { Bitmap } from "./bitmap.ts";

/** Values that differ by less are similar. */
const ALIKE = 64;
/** Minimum share of all pixels; fewer specks are dots of letters. */
const MANY = 0.002;

/** Replaces one-pixel specks if the page has many; else returns it unchanged. */
export function withoutSpecks(page: Bitmap): Bitmap {
  const specks = specksOf(page);
  if (specks.length < MANY * page.data.length) return page;
  const out = new Uint8Array(page.data);
  const around = new Uint8Array(8);
  const beside = offsets(page.width);
  for (const at of specks) {
    for (const [one, offset] of beside.entries()) around[one] = page.data[at + offset] as number;
    out[at] = around.sort()[4] as number;
  }
  return { ...page, data: out };
}

const offsets = (width: number): number[] => [-1, 1, -width, width, -width - 1, -width + 1, width - 1, width + 1];

/** Returns the positions of pixels, except at the edges, that are similar to none of their neighbours. */
function specksOf({ width, height, data }: Bitmap): number[] {
  const found: number[] = [];
  const around = offsets(width);
  for (let y = 1; y < height - 1; y++) {
    for (let at = y * width + 1, end = at + width - 2; at < end; at++) {
      const value = data[at] as number;
      let one = 0;
      for (; one < 8; one++) {
        const difference = (data[at + (around[one] as number)] as number) - value;
        if (difference < ALIKE && difference > -ALIKE) break;
      }
      if (one === 8) found.push(at);
    }
  }
  return found;
}
