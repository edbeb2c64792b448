// Which way up a page is, and by how much its lines are turned. Letters stand on their line: seen along the right direction,
// their lower edges fall on few lines, and more evenly than their upper edges do.

import type { Ink } from "./ink.ts";

/** How the content of a page lies. */
export interface Upright {
  /** Right angles by which it is turned clockwise. */
  readonly turns: 0 | 1 | 2 | 3;
  /** What it is turned beyond that, clockwise. */
  readonly degrees: number;
}

/** Lines are looked for up to this many degrees off the level. */
const MOST = 15;
const COARSE = 0.2;
const FINE = 0.02;
/** So many edges tell enough. */
const EDGES = { coarse: 6000, fine: 40_000 };
/** With fewer there is nothing to be told. */
const LEAST = 60;
/** How much more concentrated edges are along lines of text than along any other direction. */
const CLEAR = { skew: 1.25, sideways: 2, upsideDown: 1.25 };

interface Edges {
  readonly x: Float32Array;
  readonly y: Float32Array;
}

/** How the text in `ink` lies; as if upright where that is not clear. */
export function uprightOf(ink: Ink): Upright {
  const sides = ([0, 1, 2, 3] as const).map((turns) => {
    const edges = lowerEdges(ink, turns);
    return { turns, edges, ...sweep(some(edges, EDGES.coarse), 0, MOST, COARSE) };
  });
  const [level, right, over, left] = sides as [Side, Side, Side, Side];
  if (level.edges.x.length < LEAST) return { turns: 0, degrees: 0 };
  const flat = stronger(over, level);
  const upended = stronger(left, right);
  const best = upended.peak > flat.peak * CLEAR.sideways ? upended : flat;
  if (best.peak < best.mean * CLEAR.skew) return { turns: 0, degrees: 0 };
  const { degrees } = sweep(some(best.edges, EDGES.fine), best.degrees, 1.5 * COARSE, FINE);
  return { turns: best.turns, degrees };
}

interface Side {
  readonly turns: 0 | 1 | 2 | 3;
  readonly edges: Edges;
  readonly degrees: number;
  readonly peak: number;
  readonly mean: number;
}

/** `one` where it is clearly more concentrated than `usual`. */
const stronger = (one: Side, usual: Side): Side => (one.peak > usual.peak * CLEAR.upsideDown ? one : usual);

/** Where ink ends below, once the page is turned back by `turns`. */
function lowerEdges({ width, height, data }: Ink, turns: number): Edges {
  const x: number[] = [];
  const y: number[] = [];
  const [right, down] = [turns === 1 ? -1 : turns === 3 ? 1 : 0, turns === 0 ? 1 : turns === 2 ? -1 : 0];
  for (let row = 1, at = width; row < height - 1; row++, at += width) {
    for (let column = 1; column < width - 1; column++) {
      if (data[at + column] === 0 || data[at + column + right + down * width] !== 0) continue;
      x.push(turns === 0 ? column : turns === 1 ? row : turns === 2 ? -column : -row);
      y.push(turns === 0 ? row : turns === 1 ? -column : turns === 2 ? -row : column);
    }
  }
  return { x: Float32Array.from(x), y: Float32Array.from(y) };
}

/** Every so many of them, spread over the page. */
function some({ x, y }: Edges, most: number): Edges {
  const step = Math.max(1, x.length / most);
  const length = Math.floor(x.length / step);
  const chosen = (values: Float32Array) =>
    Float32Array.from({ length }, (_, at) => values[Math.floor(at * step)] as number);
  return { x: chosen(x), y: chosen(y) };
}

/** The angle within `most` of `around` at which edges fall on the fewest rows, and how much they do there and in the mean. */
function sweep(edges: Edges, around: number, most: number, step: number): Omit<Side, "turns" | "edges"> {
  const count = Math.round(most / step);
  let [degrees, peak, sum] = [0, 0, 0];
  for (let at = -count; at <= count; at++) {
    const angle = around + at * step;
    const found = concentration(edges, angle);
    sum += found;
    // Of equal angles, the one that is closest to the level.
    if (found > peak || (found === peak && Math.abs(angle) < Math.abs(degrees))) [degrees, peak] = [angle, found];
  }
  return { degrees, peak, mean: sum / (2 * count + 1) };
}

/** The sum of the squares of the shares that rows have of all edges, when rows are turned clockwise by an angle. */
function concentration({ x, y }: Edges, degrees: number): number {
  const slope = Math.tan((degrees * Math.PI) / 180);
  let [low, high] = [Infinity, -Infinity];
  const rows = new Float32Array(x.length);
  for (let at = 0; at < x.length; at++) {
    const row = (y[at] as number) - (x[at] as number) * slope;
    rows[at] = row;
    if (row < low) low = row;
    if (row > high) high = row;
  }
  if (x.length === 0) return 0;
  const counts = new Float64Array(Math.floor(high - low) + 2);
  for (let at = 0; at < rows.length; at++) {
    // Shared by two rows, so that it does not matter where a row begins.
    const place = (rows[at] as number) - low;
    const row = Math.floor(place);
    counts[row] = (counts[row] as number) + 1 - (place - row);
    counts[row + 1] = (counts[row + 1] as number) + place - row;
  }
  let sum = 0;
  for (const count of counts) sum += count * count;
  return sum / x.length ** 2;
}
