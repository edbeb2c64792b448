// Finds straight rules of tables and forms on an upright page, and erases them before recognition.

import type { Box } from "../../domain/recognition.ts";
import type { Bitmap } from "../bitmap.ts";
import { components, regions, type Component, type Runs } from "../components.ts";
import type { Ink } from "../ink.ts";

/** A nearly horizontal or vertical line. "Along" means x for a horizontal rule and y for a vertical one. */
export interface Rule {
  readonly vertical: boolean;
  /** Extent along, in pixels. */
  readonly from: number;
  readonly to: number;
  /** Position of the middle across, at `from`; `slope`: its change per pixel along. */
  readonly middle: number;
  readonly slope: number;
  readonly thickness: number;
}

/** Distances in pixels from a rule; at one of them there must be lighter ground on both sides. */
const SIDES = [3, 6, 12] as const;
/** Minimum difference between the values of rule and ground. */
const CONTRAST = 24;
const THICKEST = 12;
/** Maximum gaps in pixels: where a rule is broken, where letters touch it, and between two parts of one rule. */
const GAP = { light: 2, dark: 24, joined: 8 };
/** Minimum share of a rule with light ground on both sides, and maximum share of breaks. */
const BARE = 0.6;
const BROKEN = 0.05;
/** Maximum drift across, per pixel along. */
const SLOPE = 0.03;
/** Maximum number of rules per direction (the longest ones); more are a pattern. */
const MOST = 2000;

/** Minimum lengths of rules in pixels. */
interface Shortest {
  readonly level: number;
  readonly plumb: number;
}

/** Returns the rules on a page; `dark` is the lightest value of ink. */
export function findRules(page: Bitmap, shortest: Shortest, dark: number): Rule[] {
  return [false, true].flatMap((vertical) => {
    const least = vertical ? shortest.plumb : shortest.level;
    const runs = regions(bare(page, vertical, least, dark));
    const found = components(runs, least).filter((one) => isStraight(one, vertical));
    const longest = found.sort((a, b) => length(b, vertical) - length(a, vertical)).slice(0, MOST);
    return joined(fit(longest, runs, vertical));
  });
}

const length = (box: Box, vertical: boolean): number => (vertical ? box.height : box.width);

function isStraight(one: Component, vertical: boolean): boolean {
  const [along, across] = vertical ? [one.height, one.width] : [one.width, one.height];
  const thickness = one.area / along;
  return thickness <= THICKEST && along >= 4 * thickness && across <= thickness + 2 + SLOPE * along;
}

/** Returns the pixels of sufficiently long stretches with light ground on both sides. */
function bare({ width, height, data }: Bitmap, vertical: boolean, shortest: number, dark: number): Ink {
  const out = new Uint8Array(data.length);
  const [lines, steps] = vertical ? [width, height] : [height, width];
  const [along, across] = vertical ? [width, 1] : [1, width];
  for (let line = SIDES[0]; line < lines - SIDES[0]; line++) {
    const sides = SIDES.filter((side) => line >= side && line < lines - side).map((side) => side * across);
    let [start, last, count, light, broken] = [-1, 0, 0, 0, 0];
    for (let step = 0, at = line * across; step <= steps; step++, at += along) {
      const value = step < steps ? (data[at] as number) : 255;
      if (value <= 255 - CONTRAST && isValley(data, at, value, sides)) {
        if (start < 0) {
          [start, count, broken] = [step, 0, 0];
          // The gap before a level stretch counts as a break: else the feet of small letters would be rules.
          if (vertical) light = 0;
        }
        broken += light;
        count++;
        last = step;
        light = 0;
        continue;
      }
      if (start < 0) continue;
      light = value <= dark ? 0 : light + 1;
      if (step < steps && light <= GAP.light && step - last <= GAP.dark) continue;
      const size = last + 1 - start;
      if (size >= shortest && count >= BARE * size && broken <= BROKEN * size) {
        for (let mark = start; mark <= last; mark++) out[line * across + mark * along] = 1;
      }
      start = -1;
    }
  }
  return { width, height, data: out };
}

function isValley(data: Uint8Array, at: number, value: number, sides: readonly number[]): boolean {
  const ground = value + CONTRAST;
  for (const side of sides) {
    if ((data[at - side] as number) >= ground && (data[at + side] as number) >= ground) return true;
  }
  return false;
}

/** Fits a line through the pixels of each region, by least squares. */
function fit(found: readonly Component[], runs: Runs, vertical: boolean): Rule[] {
  const sums = new Map(found.map((one) => [one.region, { n: 0, a: 0, c: 0, aa: 0, ac: 0 }]));
  for (let at = 0; at < runs.count; at++) {
    const sum = sums.get(runs.region[at] as number);
    if (sum === undefined) continue;
    const row = runs.row[at] as number;
    for (let x = runs.start[at] as number; x < (runs.end[at] as number); x++) {
      const [a, c] = vertical ? [row, x] : [x, row];
      sum.n++;
      sum.a += a;
      sum.c += c;
      sum.aa += a * a;
      sum.ac += a * c;
    }
  }
  return found.map((one) => {
    const { n, a, c, aa, ac } = sums.get(one.region) ?? { n: 1, a: 0, c: 0, aa: 0, ac: 0 };
    const slope = (n * ac - a * c) / Math.max(1, n * aa - a * a);
    const from = vertical ? one.y : one.x;
    const to = from + length(one, vertical);
    const middle = (c - slope * a) / n + slope * from + 0.5;
    return { vertical, from, to, middle, slope, thickness: n / (to - from) };
  });
}

/** Returns the position across of a rule's middle, at a position along. */
export const middleAt = ({ from, middle, slope }: Rule, along: number): number => middle + slope * (along - from);

/** Joins rules that continue each other. */
function joined(rules: readonly Rule[]): Rule[] {
  const done: Rule[] = [];
  for (const rule of rules.toSorted((a, b) => a.from - b.from)) {
    const at = done.findIndex(
      (one) =>
        rule.from - one.to <= GAP.joined && Math.abs(middleAt(one, rule.from) - rule.middle) <= 1 + one.thickness / 2,
    );
    const one = done[at];
    if (one === undefined) done.push(rule);
    else if (rule.to > one.to) {
      const slope = (middleAt(rule, rule.to) - one.middle) / (rule.to - one.from);
      done[at] = { ...one, to: rule.to, slope, thickness: Math.max(one.thickness, rule.thickness) };
    }
  }
  return done;
}

/** Pixels beyond the ends of a rule to erase, since they are equally dark. */
const FRAYED = 2;

/** Returns the page with these rules replaced by the ground beside them, except where letters cross them. */
export function eraseRules({ width, height, data }: Bitmap, rules: readonly Rule[]): Bitmap {
  const out = new Uint8Array(data);
  for (const rule of rules) {
    const [along, across] = rule.vertical ? [width, 1] : [1, width];
    const [lines, steps] = rule.vertical ? [width, height] : [height, width];
    const half = rule.thickness / 2;
    for (let step = Math.max(0, rule.from - FRAYED); step < Math.min(steps, rule.to + FRAYED); step++) {
      const middle = middleAt(rule, step);
      const first = Math.max(0, Math.floor(middle - half) - 1);
      const last = Math.min(lines - 1, Math.ceil(middle + half));
      // Reads from the output: rules that cross this one, and were erased earlier, are then gone.
      const before = out[Math.max(0, first - 2) * across + step * along] as number;
      const after = out[Math.min(lines - 1, last + 2) * across + step * along] as number;
      const ground = Math.max(before, after);
      for (let line = first; line <= last; line++) out[line * across + step * along] = ground;
    }
  }
  return { width, height, data: out };
}
