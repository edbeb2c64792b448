// Which way up a page is, and by how much its lines are turned. Letters stand on their line: seen the right way, their lower
// ends fall on few lines, and on fewer than their upper ends do.

import type { Box } from "../domain/recognition.ts";
import { scaled } from "./boxes.ts";
import { letterHeight } from "./letters.ts";

/** How the content of a page lies. */
interface Upright {
  /** Right angles by which it is turned clockwise. */
  readonly turns: 0 | 1 | 2 | 3;
  /** What it is turned beyond that, clockwise. */
  readonly degrees: number;
}

/** Lines are looked for up to this many degrees off the level. */
const MOST = 15;
const COARSE = 0.2;
const FINE = 0.02;
/** Letters that tell how lines are turned, and which way is up. */
const LEAST = { skew: 20, turns: 60 };
/** So many letters tell enough. */
const ENOUGH = 5000;
/** Share of a letter's height that ends may be apart and still meet: round letters reach a little beyond their line. */
const MEETING = 0.15;
/** How many times more the ends of letters meet along lines of text than they do in another direction. */
const CLEAR = { skew: 2.5, sideways: 2, upsideDown: 1.2 };

/** The ends of letters on one of their sides, as points of a page on which that side is the lower one. */
interface Ends {
  readonly x: Float32Array;
  readonly y: Float32Array;
}

interface Side {
  readonly turns: 0 | 1 | 2 | 3;
  readonly degrees: number;
  /** How much the ends meet at this angle, and in the mean of all angles. */
  readonly peak: number;
  readonly mean: number;
}

/** How a page with these letters lies; as if upright where that is not clear. */
export function uprightOf(letters: readonly Box[]): Upright {
  if (letters.length < LEAST.skew) return { turns: 0, degrees: 0 };
  const step = Math.ceil(letters.length / ENOUGH);
  const unit = Math.max(1, MEETING * letterHeight(letters));
  const chosen = letters.filter((_, at) => at % step === 0).map((box) => scaled(box, 1 / unit));
  const side = (turns: 0 | 1 | 2 | 3): Side => ({ turns, ...steepest(endsOf(chosen, turns)) });
  const level = side(0);
  const best =
    letters.length < LEAST.turns
      ? level
      : upper(upper(level, side(2), CLEAR.upsideDown), upper(side(1), side(3), 1), CLEAR.sideways);
  if (best.peak < best.mean * CLEAR.skew) return { turns: 0, degrees: 0 };
  return { turns: best.turns, degrees: best.degrees };
}

/** `other` where its ends meet so many times more. */
const upper = (usual: Side, other: Side, times: number): Side => (other.peak > usual.peak * times ? other : usual);

function endsOf(letters: readonly Box[], turns: number): Ends {
  const point = ({ x, y, width, height }: Box): readonly [number, number] => {
    if (turns === 0) return [x + width / 2, y + height];
    if (turns === 1) return [y + height / 2, -x];
    if (turns === 2) return [-x - width / 2, -y];
    return [-y - height / 2, x + width];
  };
  const points = letters.map(point);
  return { x: Float32Array.from(points, ([x]) => x), y: Float32Array.from(points, ([, y]) => y) };
}

/** The angle at which ends fall on the fewest lines. */
function steepest(ends: Ends): Omit<Side, "turns"> {
  const coarse = sweep(ends, 0, MOST, COARSE);
  const { degrees, peak } = sweep(ends, coarse.degrees, 1.5 * COARSE, FINE);
  return { degrees, peak, mean: coarse.mean };
}

function sweep(ends: Ends, around: number, most: number, step: number): Omit<Side, "turns"> {
  const count = Math.round(most / step);
  let [degrees, peak, sum] = [0, 0, 0];
  for (let at = -count; at <= count; at++) {
    const angle = around + at * step;
    const found = concentration(ends, angle);
    sum += found;
    if (found > peak) [degrees, peak] = [angle, found];
  }
  return { degrees, peak, mean: sum / (2 * count + 1) };
}

/** The sum of the squares of the shares that lines a pixel high, turned clockwise by an angle, have of all ends. */
function concentration({ x, y }: Ends, degrees: number): number {
  const slope = Math.tan((degrees * Math.PI) / 180);
  let [low, high] = [Infinity, -Infinity];
  const lines = new Float32Array(x.length);
  for (let at = 0; at < x.length; at++) {
    const line = (y[at] as number) - (x[at] as number) * slope;
    lines[at] = line;
    if (line < low) low = line;
    if (line > high) high = line;
  }
  const counts = new Float64Array(Math.floor(high - low) + 2);
  for (let at = 0; at < lines.length; at++) {
    // Shared by two lines, so that it does not matter where a line begins.
    const place = (lines[at] as number) - low;
    const line = Math.floor(place);
    counts[line] = (counts[line] as number) + 1 - (place - line);
    counts[line + 1] = (counts[line + 1] as number) + place - line;
  }
  let sum = 0;
  for (const count of counts) sum += count * count;
  return sum / x.length ** 2;
}
