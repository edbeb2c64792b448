import { expect, test } from "bun:test";
import {
  chain,
  ontoCorners,
  project,
  projectBox,
  rotation,
  scaling,
  translation,
} from "../../src/recognition/projection.ts";
import { crop, resize, warp } from "../../src/recognition/resample.ts";
import { Drawing } from "./drawing.ts";

const valueAt = ({ width, data }: { width: number; data: Uint8Array }, x: number, y: number) => data[y * width + x];

test("a reduced image has the means of the covered pixels", () => {
  const page = new Drawing(6, 4, 200).box(0, 0, 3, 2, 50);
  expect([...resize(page, 2, 2).data]).toEqual([50, 200, 200, 200]);
  expect([...resize(page, 3, 2).data]).toEqual([50, 125, 200, 200, 200, 200]);
  expect([...resize(page, 1, 1).data]).toEqual([163]);
});

test("a crop has the pixels of its box", () => {
  const page = new Drawing(5, 5).box(1, 2, 2, 2, 7);
  expect([...crop(page, { x: 1, y: 1, width: 3, height: 2 }).data]).toEqual([255, 255, 255, 7, 7, 255]);
});

test("an unchanged bitmap stays equal, and one moved by a pixel has background at its edge", () => {
  const page = new Drawing(30, 20).text(3, 3, "a");
  expect(warp(page, scaling(1), 30, 20, 9).data).toEqual(page.data);
  const moved = warp(page, translation(1, 0), 30, 20, 9);
  expect([29, 28].map((x) => valueAt(moved, x, 5))).toEqual([9, 255]);
  expect(valueAt(moved, 4, 9)).toBe(valueAt(page, 5, 9));
});

test("enlarging without rotation equals enlarging with a negligible rotation", () => {
  const page = new Drawing(60, 40).text(3, 3, "enlarged").box(50, 30, 10, 10);
  for (const step of [scaling(1 / 2.5), scaling(0.4, 0.7), chain(scaling(0.5), translation(-4, 7)), scaling(1.7)]) {
    const [plain, turned] = [step, chain(step, rotation(1e-9))].map((one) => warp(page, one, 130, 90, 255).data);
    const apart = plain?.filter((value, at) => Math.abs(value - (turned?.[at] ?? 0)) > 1).length;
    // Where a point lies exactly between two values, either is correct.
    expect(apart).toBeLessThan(0.005 * 130 * 90);
  }
});

test("rotating by a right angle moves the upper right corner to the upper left", () => {
  const page = new Drawing(40, 30).box(34, 2, 4, 4);
  const out = warp(page, chain(rotation(90), translation(40, 0)), 30, 40, 255);
  expect([valueAt(out, 4, 4), valueAt(out, 10, 4), valueAt(out, 4, 34)]).toEqual([0, 255, 255]);
});

test("the corners of a rectangle are projected to the given points, and steps are chained in order", () => {
  const corners = [
    [10, 5],
    [90, 15],
    [80, 70],
    [5, 60],
  ] as const;
  const projection = ontoCorners(40, 20, corners);
  for (const [at, corner] of (
    [
      [0, 0],
      [40, 0],
      [40, 20],
      [0, 20],
    ] as const
  ).entries()) {
    const [x, y] = project(projection, corner);
    expect([x, y].map((value) => Math.round(value * 1e6) / 1e6)).toEqual([...(corners[at] ?? [])]);
  }
  expect(project(chain(scaling(2), translation(1, 3)), [5, 5])).toEqual([11, 13]);
});

test("a box is mapped back in whole pixels, and is never outside or empty", () => {
  const page = { width: 100, height: 50 };
  expect(projectBox(scaling(0.5), { x: 10, y: 11, width: 5, height: 4 }, page)).toEqual({
    x: 5,
    y: 5,
    width: 3,
    height: 3,
  });
  expect(projectBox(scaling(2), { x: 40, y: 20, width: 20, height: 20 }, page)).toEqual({
    x: 80,
    y: 40,
    width: 20,
    height: 10,
  });
  expect(projectBox(scaling(2), { x: 70, y: 40, width: 9, height: 9 }, page)).toEqual({
    x: 99,
    y: 49,
    width: 1,
    height: 1,
  });
});
