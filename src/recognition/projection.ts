// Projections between bitmaps: turned, scaled, or seen from an angle.

import type { Box } from "../domain/recognition.ts";
import type { Bitmap } from "./bitmap.ts";

/** x and y in pixels from the top left corner; the first pixel extends from 0 to 1. */
export type Point = readonly [number, number];

/** Four points, clockwise from the top left. */
export type Corners = readonly [Point, Point, Point, Point];

/** A 3 × 3 matrix in rows. It maps points of a derived bitmap to those of the bitmap that it was derived from. */
export type Projection = readonly [number, number, number, number, number, number, number, number, number];

export const IDENTITY: Projection = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export const translation = (x: number, y: number): Projection => [1, 0, x, 0, 1, y, 0, 0, 1];

export const scaling = (x: number, y = x): Projection => [x, 0, 0, 0, y, 0, 0, 0, 1];

/** Rotates clockwise about the origin. */
export function rotation(degrees: number): Projection {
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  return [cos, -sin, 0, sin, cos, 0, 0, 0, 1];
}

/** Combines projections: the first is applied first. */
export const chain = (...steps: readonly Projection[]): Projection => steps.reduce((done, next) => times(next, done));

function times(a: Projection, b: Projection): Projection {
  const [a0, a1, a2, a3, a4, a5, a6, a7, a8] = a;
  const [b0, b1, b2, b3, b4, b5, b6, b7, b8] = b;
  return [
    a0 * b0 + a1 * b3 + a2 * b6,
    a0 * b1 + a1 * b4 + a2 * b7,
    a0 * b2 + a1 * b5 + a2 * b8,
    a3 * b0 + a4 * b3 + a5 * b6,
    a3 * b1 + a4 * b4 + a5 * b7,
    a3 * b2 + a4 * b5 + a5 * b8,
    a6 * b0 + a7 * b3 + a8 * b6,
    a6 * b1 + a7 * b4 + a8 * b7,
    a6 * b2 + a7 * b5 + a8 * b8,
  ];
}

/** Maps the rectangle from the origin to `width` and `height` to four corners, no three of which are collinear. */
export function ontoCorners(width: number, height: number, corners: Corners): Projection {
  const [[x0, y0], [x1, y1], [x2, y2], [x3, y3]] = corners;
  const [dx1, dx2, dx] = [x1 - x2, x3 - x2, x0 - x1 + x2 - x3];
  const [dy1, dy2, dy] = [y1 - y2, y3 - y2, y0 - y1 + y2 - y3];
  const determinant = dx1 * dy2 - dx2 * dy1;
  const g = (dx * dy2 - dx2 * dy) / determinant;
  const h = (dx1 * dy - dx * dy1) / determinant;
  const unit: Projection = [x1 - x0 + g * x1, x3 - x0 + h * x3, x0, y1 - y0 + g * y1, y3 - y0 + h * y3, y0, g, h, 1];
  return chain(scaling(1 / width, 1 / height), unit);
}

/** Returns the image of a point. */
export function project([a, b, c, d, e, f, g, h, i]: Projection, [x, y]: Point): Point {
  const w = g * x + h * y + i;
  return [(a * x + b * y + c) / w, (d * x + e * y + f) / w];
}

/** Returns the smallest upright rectangle around the image of a box, limited to the target bitmap. */
export function projectBox(projection: Projection, box: Box, { width, height }: Omit<Bitmap, "data">): Box {
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  const corners: Point[] = [
    [box.x, box.y],
    [right, box.y],
    [box.x, bottom],
    [right, bottom],
  ];
  const points = corners.map((corner) => project(projection, corner));
  const within = (values: readonly number[], most: number) => {
    const [low, high] = [Math.floor(Math.min(...values) + 1e-6), Math.ceil(Math.max(...values) - 1e-6)];
    const start = Math.max(0, Math.min(most - 1, low));
    return [start, Math.max(1, Math.min(most, high) - start)] as const;
  };
  const [x, across] = within(
    points.map(([x]) => x),
    width,
  );
  const [y, down] = within(
    points.map(([, y]) => y),
    height,
  );
  return { x, y, width: across, height: down };
}
