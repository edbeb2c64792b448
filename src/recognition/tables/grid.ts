// Finds grids of rules, and the cells between them.

import type { Box, MergedCell } from "../../domain/recognition.ts";
import { middleAt, type Rule } from "./rules.ts";

/** A cell, which may span several rows and columns. */
export interface GridCell extends MergedCell {
  readonly box: Box;
}

export interface Grid {
  readonly rows: number;
  readonly columns: number;
  readonly cells: readonly GridCell[];
  readonly box: Box;
  readonly rules: readonly Rule[];
}

/** Minimum share of a cell's side with a rule for the cell to end there. */
const DRAWN = 0.5;
/** Maximum distance, in pixels, between the end of a rule and the rule that it meets. */
const MEETS = 3;
/** Share of the longest extent above which a rule may end anywhere. */
const LONG = 0.5;
/** Maximum number of cells of a grid; more are a pattern. */
const MOST_CELLS = 10_000;

/** Returns the grids that crossing or touching rules form, with at least two rows and two columns. */
export function gridsOf(rules: readonly Rule[], letterHeight: number): Grid[] {
  const slack = 4 + letterHeight / 2;
  const level = rules.filter(({ vertical }) => !vertical);
  const plumb = rules.filter(({ vertical }) => vertical);
  const all = [...level, ...plumb];
  return groups(all.length, touching(level, plumb, slack)).flatMap((members) => {
    const together = members.flatMap((at) => all[at] ?? []);
    const grid = gridOf(
      together.filter((rule) => isSide(rule, together, slack)),
      slack,
    );
    return grid === undefined ? [] : [grid];
  });
}

/** Yields pairs of rules that touch, by number; vertical rules are numbered after horizontal ones. */
function* touching(level: readonly Rule[], plumb: readonly Rule[], slack: number): Generator<[number, number]> {
  for (const [one, a] of level.entries()) {
    for (const [two, b] of plumb.entries()) if (touch(a, b, slack)) yield [one, level.length + two];
  }
}

/** Returns whether a rule is long, or ends at others on both sides; else it is a letter's stroke close to a rule. */
function isSide(rule: Rule, others: readonly Rule[], slack: number): boolean {
  const crossing = others.filter((other) => other.vertical !== rule.vertical);
  const along = others.filter((other) => other.vertical === rule.vertical);
  const extent = Math.max(...along.map(({ to }) => to)) - Math.min(...along.map(({ from }) => from));
  if (rule.to - rule.from >= LONG * extent) return true;
  const ends = (place: number) =>
    crossing.some(
      (other) =>
        Math.abs(middleAt(other, rule.middle) - place) <= MEETS + other.thickness / 2 &&
        reaches(other, middleAt(rule, place), slack),
    );
  return ends(rule.from) && ends(rule.to);
}

const reaches = ({ from, to }: Rule, place: number, slack: number): boolean =>
  place > from - slack && place < to + slack;

function touch(level: Rule, plumb: Rule, slack: number): boolean {
  const x = middleAt(plumb, level.middle);
  const y = middleAt(level, x);
  return reaches(level, x, slack) && reaches(plumb, y, slack);
}

function gridOf(rules: readonly Rule[], slack: number): Grid | undefined {
  const level = rules.filter(({ vertical }) => !vertical);
  const plumb = rules.filter(({ vertical }) => vertical);
  if (level.length < 2 || plumb.length === 0) return undefined;
  const ys = lines(level, plumb, slack);
  const xs = lines(plumb, level, slack);
  const [rows, columns] = [ys.length - 1, xs.length - 1];
  if (rows < 2 || columns < 2 || rows * columns > MOST_CELLS) return undefined;
  const at = (row: number, column: number) => row * columns + column;
  const ties: [number, number][] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const right = xs[column + 1];
      const below = ys[row + 1];
      if (column + 1 < columns && right && !isDrawn(right, ys[row], ys[row + 1])) {
        ties.push([at(row, column), at(row, column + 1)]);
      }
      if (row + 1 < rows && below && !isDrawn(below, xs[column], xs[column + 1])) {
        ties.push([at(row, column), at(row + 1, column)]);
      }
    }
  }
  const place = (line: Line | undefined) => line?.place ?? 0;
  const boxOf = (row: number, column: number, rowSpan: number, columnSpan: number): Box => {
    const [x, y] = [place(xs[column]), place(ys[row])];
    return { x, y, width: place(xs[column + columnSpan]) - x, height: place(ys[row + rowSpan]) - y };
  };
  const cells = groups(rows * columns, ties).flatMap((members) => {
    const inRows = members.map((cell) => Math.floor(cell / columns));
    const inColumns = members.map((cell) => cell % columns);
    const [row, column] = [Math.min(...inRows), Math.min(...inColumns)];
    const rowSpan = Math.max(...inRows) + 1 - row;
    const columnSpan = Math.max(...inColumns) + 1 - column;
    if (rowSpan * columnSpan === members.length) {
      return [{ row, column, rowSpan, columnSpan, box: boxOf(row, column, rowSpan, columnSpan) }];
    }
    // Sides are missing such that no rectangle remains.
    return members.map((cell) => {
      const [r, c] = [Math.floor(cell / columns), cell % columns];
      return { row: r, column: c, rowSpan: 1, columnSpan: 1, box: boxOf(r, c, 1, 1) };
    });
  });
  return { rows, columns, cells, box: boxOf(0, 0, rows, columns), rules };
}

/** A line of a grid: its position across, and its rules. */
interface Line {
  readonly place: number;
  readonly rules: readonly Rule[];
}

/** Returns the lines of rules, and outer sides that are not drawn but that `crossing` rules extend to. */
function lines(rules: readonly Rule[], crossing: readonly Rule[], slack: number): Line[] {
  const middle = (rule: Rule) => middleAt(rule, (rule.from + rule.to) / 2);
  const sorted = rules.toSorted((a, b) => middle(a) - middle(b));
  const found: { place: number; rules: Rule[] }[] = [];
  for (const rule of sorted) {
    const last = found.at(-1);
    if (last && middle(rule) - last.place < slack) last.rules.push(rule);
    else found.push({ place: Math.round(middle(rule)), rules: [rule] });
  }
  const first = Math.min(...crossing.map(({ from }) => from));
  const end = Math.max(...crossing.map(({ to }) => to));
  if (first < (found[0]?.place ?? 0) - 2 * slack) found.unshift({ place: first, rules: [] });
  if (end > (found.at(-1)?.place ?? 0) + 2 * slack) found.push({ place: end, rules: [] });
  return found;
}

/** Returns whether a rule lies on `line` between two lines that cross it. */
function isDrawn(line: Line, from: Line | undefined, to: Line | undefined): boolean {
  const [start, end] = [from?.place ?? 0, to?.place ?? 0];
  const parts = line.rules
    .map((rule) => [Math.max(start, rule.from), Math.min(end, rule.to)] as const)
    .filter(([first, last]) => last > first)
    .sort(([a], [b]) => a - b);
  let [covered, reached] = [0, start];
  for (const [first, last] of parts) {
    covered += Math.max(0, last - Math.max(first, reached));
    reached = Math.max(reached, last);
  }
  return covered >= DRAWN * (end - start);
}

/** Groups the numbers from 0 to `count`: numbers that are tied, also indirectly, are in one group. */
function groups(count: number, ties: Iterable<readonly [number, number]>): number[][] {
  const parent = Array.from({ length: count }, (_, at) => at);
  const root = (of: number): number => {
    let at = of;
    for (let above = parent[at] ?? at; above !== at; above = parent[at] ?? at) {
      parent[at] = parent[above] ?? above;
      at = above;
    }
    return at;
  };
  for (const [one, two] of ties) parent[root(one)] = root(two);
  return [...Map.groupBy(parent.keys(), root).values()];
}
