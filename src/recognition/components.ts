// Finds connected regions of ink: divides rows into runs and joins runs that touch, including at corners.

import type { Box } from "../domain/recognition.ts";
import type { Ink } from "./ink.ts";

/** Stretches of adjacent ink pixels in a row; `end` is the first pixel after a run. */
export interface Runs {
  readonly count: number;
  readonly row: Uint16Array;
  readonly start: Uint16Array;
  readonly end: Uint16Array;
  /** The number of the run's region. */
  readonly region: Int32Array;
}

export interface Component extends Box {
  /** Number of ink pixels. */
  readonly area: number;
  /** The region's number in its runs. */
  readonly region: number;
}

/** Returns the runs of all regions. */
export function regions({ width, height, data }: Ink): Runs {
  const count = countRuns(data, width);
  const row = new Uint16Array(count);
  const start = new Uint16Array(count);
  const end = new Uint16Array(count);
  const region = new Int32Array(count);
  const root = (of: number): number => {
    let at = of;
    while (region[at] !== at) {
      const above = region[region[at] as number] as number;
      region[at] = above;
      at = above;
    }
    return at;
  };
  let [next, above] = [0, 0];
  for (let y = 0; y < height; y++) {
    const first = next;
    for (let x = 0, at = y * width; x < width; x++, at++) {
      if (data[at] === 0) continue;
      const from = x;
      for (; x < width && data[at] !== 0; at++) x++;
      row[next] = y;
      start[next] = from;
      end[next] = x;
      region[next] = next;
      // Runs of the row above that end before this run cannot touch later runs either.
      while (above < first && (end[above] as number) < from) above++;
      for (let other = above; other < first && (start[other] as number) <= x; other++) {
        const [one, two] = [root(other), root(next)];
        if (one !== two) region[Math.max(one, two)] = Math.min(one, two);
      }
      next++;
    }
    above = first;
  }
  for (let at = 0; at < count; at++) region[at] = root(at);
  return { count, row, start, end, region };
}

function countRuns(data: Uint8Array, width: number): number {
  let count = 0;
  for (let at = 0, x = 0; at < data.length; at++, x = x + 1 === width ? 0 : x + 1) {
    if (data[at] !== 0 && (x === 0 || data[at - 1] === 0)) count++;
  }
  return count;
}

/** Returns the regions with at least `minArea` pixels, in the order of their first rows. */
export function components({ count, row, start, end, region }: Runs, minArea = 1): Component[] {
  const area = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    const of = region[at] as number;
    area[of] = (area[of] as number) + (end[at] as number) - (start[at] as number);
  }
  const left = new Uint16Array(start);
  const right = new Uint16Array(end);
  const bottom = new Uint16Array(row);
  for (let at = 0; at < count; at++) {
    const of = region[at] as number;
    if ((start[at] as number) < (left[of] as number)) left[of] = start[at] as number;
    if ((end[at] as number) > (right[of] as number)) right[of] = end[at] as number;
    bottom[of] = row[at] as number;
  }
  const found: Component[] = [];
  for (let at = 0; at < count; at++) {
    if (region[at] !== at || (area[at] as number) < minArea) continue;
    const [x, y] = [left[at] as number, row[at] as number];
    const width = (right[at] as number) - x;
    found.push({ x, y, width, height: (bottom[at] as number) + 1 - y, area: area[at] as number, region: at });
  }
  return found;
}
