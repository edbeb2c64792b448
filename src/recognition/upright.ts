// Finds which way up a page is, and the skew of its lines. Letters stand on their line: upright, their lower ends fall
// on few lines, and on fewer than their upper ends do.

import type { Box } from "../domain/recognition.ts";
import { scaled } from "./boxes.ts";
import { letterHeight } from "./letters.ts";

/** How the content of a page is turned. */
interface Upright {
  /** Number of right angles, clockwise. */
  readonly turns: 0 | 1 | 2 | 3;
  /** Further rotation, clockwise. */
  readonly degrees: number;
}

/** Maximum skew in degrees that is searched. */
const MOST = 15;
const COARSE = 0.2;
const FINE = 0.02;
/** Minimum number of letters to determine the skew, and to determine which way is up. */
const LEAST = { skew: 20, turns: 60 };
/** Number of letters that suffices. */
const ENOUGH = 5000;
/** Distance between ends on one line, as a share of letter height: round letters extend a little beyond their line. */
const MEETING = 0.15;
/** Minimum ratio between how much the ends of letters meet along lines of text and in other directions. */
const CLEAR = { skew: 2.5, sideways: 2, upsideDown: 1.2 };

/** The ends of letters on one side, as points of a page turned so that this side is the lower one. */
interface Ends {
  readonly x: Float32Array;
  readonly y: Float32Array;
}

interface Side {
  readonly turns: 0 | 1 | 2 | 3;
  readonly degrees: number;
  /** How much the ends meet at this angle; `mean`: on average over all angles. */
  readonly peak: number;
  readonly mean: number;
}

/** Returns how a page with these letters is turned; upright when that is not clear. */
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

/** Returns `other` if its ends meet more than `times` as much as those of `usual`. */
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

/** Finds the angle at which ends fall on the fewest lines. */
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

/** Returns the sum of the squared shares of all ends in lines one pixel high, turned clockwise by `degrees`. */
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
    // Each end is shared by two lines, so that it does not matter where lines begin.
    const place = (lines[at] as number) - low;
    const line = Math.floor(place);
    counts[line] = (counts[line] as number) + 1 - (place - line);
    counts[line + 1] = (counts[line + 1] as number) + place - line;
  }
  let sum = 0;
  for (const count of counts) sum += count * count;
  return sum / x.length ** 2;
}
