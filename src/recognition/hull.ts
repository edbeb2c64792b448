// Computes outlines of points.

import type { Corners, Point } from "./projection.ts";

const cross = ([ox, oy]: Point, [ax, ay]: Point, [bx, by]: Point): number =>
  (ax - ox) * (by - oy) - (ay - oy) * (bx - ox);

/** Returns the convex outline of points, clockwise on a screen (Andrew's monotone chain). */
export function hull(points: readonly Point[]): Point[] {
  const sorted = points.toSorted(([ax, ay], [bx, by]) => ax - bx || ay - by);
  const half = (list: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const point of list) {
      for (let [a, b] = chain.slice(-2); a && b && cross(a, b, point) <= 0; [a, b] = chain.slice(-2)) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

/** Returns the area inside an outline. */
export const area = (outline: readonly Point[]): number =>
  Math.abs(
    outline.reduce((sum, [x, y], at) => {
      const [nx, ny] = outline[(at + 1) % outline.length] ?? [0, 0];
      return sum + x * ny - nx * y;
    }, 0),
  ) / 2;

/**
 * Returns four sides around a convex outline, clockwise from the upper left corner. Removes one side after the other,
 * each time the one whose removal adds the smallest area. Undefined when the outline has fewer than four.
 */
export function quadrilateral(outline: readonly Point[]): Corners | undefined {
  const points = [...outline];
  while (points.length > 4) {
    let best: { at: number; meet: Point; grown: number } | undefined;
    for (let at = 0; at < points.length; at++) {
      const found = without(points, at);
      if (found && (!best || found.grown < best.grown)) best = { at, ...found };
    }
    if (!best) return undefined;
    const next = (best.at + 1) % points.length;
    points[best.at] = best.meet;
    points.splice(next, 1);
  }
  if (points.length < 4) return undefined;
  const sums = points.map(([x, y]) => x + y);
  const first = sums.indexOf(Math.min(...sums));
  return [...points.slice(first), ...points.slice(0, first)] as unknown as Corners;
}

/** Returns where the neighbours of the side that begins at `at` meet, and the area that its removal adds. */
function without(points: readonly Point[], at: number): { meet: Point; grown: number } | undefined {
  const of = (index: number) => points[(index + points.length) % points.length] ?? ([0, 0] as const);
  const [a, b, c, d] = [of(at - 1), of(at), of(at + 1), of(at + 2)];
  const [ux, uy, vx, vy] = [b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]];
  const turn = ux * vy - uy * vx;
  if (turn <= 1e-9) return undefined;
  const share = ((c[0] - b[0]) * vy - (c[1] - b[1]) * vx) / turn;
  if (share < 0) return undefined;
  const meet: Point = [b[0] + share * ux, b[1] + share * uy];
  return { meet, grown: Math.abs(cross(b, meet, c)) / 2 };
}
