import { expect, test } from "bun:test";
import { cutOutSheet, sheetCorners } from "../../src/recognition/sheet.ts";
import { area, hull, quadrilateral } from "../../src/recognition/hull.ts";
import { ontoCorners, project, type Corners } from "../../src/recognition/projection.ts";
import { Drawing } from "./drawing.ts";

const CORNERS: Corners = [
  [70, 60],
  [330, 90],
  [310, 420],
  [50, 380],
];

/** Returns a page of text between these corners, on a background. */
function photograph(corners: Corners, ground: number, paper: number, width = 400, height = 480) {
  const page = new Drawing(400, 500, paper).page(2);
  const out = new Drawing(width, height, ground);
  const onto = ontoCorners(400, 500, corners);
  for (let y = 0; y < 500; y += 0.5) {
    for (let x = 0; x < 400; x += 0.5) {
      const [u, v] = project(onto, [x, y]);
      out.box(Math.floor(u), Math.floor(v), 1, 1, page.data[Math.floor(y) * 400 + Math.floor(x)]);
    }
  }
  return out;
}

for (const [name, ground, paper] of [
  ["darker", 60, 240],
  ["lighter", 250, 170],
] as const) {
  test(`the corners of a sheet on a ${name} ground are found`, () => {
    const found = sheetCorners(photograph(CORNERS, ground, paper));
    for (const [at, [x, y]] of CORNERS.entries()) {
      expect(Math.abs((found?.[at]?.[0] ?? 0) - x)).toBeLessThan(5);
      expect(Math.abs((found?.[at]?.[1] ?? 0) - y)).toBeLessThan(5);
    }
  });
}

test("the sheet is straightened, and its points are mapped back to the photograph", () => {
  const sheet = cutOutSheet(photograph(CORNERS, 60, 240));
  expect(sheet?.bitmap.width).toBeWithin(255, 270);
  expect(sheet?.bitmap.height).toBeWithin(320, 345);
  const end = [sheet?.bitmap.width ?? 0, sheet?.bitmap.height ?? 0] as const;
  const [x, y] = sheet ? project(sheet.toOriginal, end) : [0, 0];
  expect(Math.hypot(x - 310, y - 420)).toBeLessThan(6);
});

test("an image without a sheet on a background stays unchanged", () => {
  expect(cutOutSheet(new Drawing(400, 500).page())).toBeUndefined();
  expect(cutOutSheet(new Drawing(300, 300, 128))).toBeUndefined();
  expect(cutOutSheet(new Drawing(1, 1))).toBeUndefined();
  const figure = new Drawing(600, 700).page();
  expect(cutOutSheet(figure.box(150, 200, 300, 300, 90))).toBeUndefined();
  const round = new Drawing(400, 400, 40);
  for (let y = 0; y < 400; y++) {
    const half = Math.sqrt(Math.max(0, 150 ** 2 - (y - 200) ** 2));
    round.box(Math.round(200 - half), y, Math.round(2 * half), 1, 240);
  }
  expect(cutOutSheet(round)).toBeUndefined();
  const shaded = new Drawing(400, 400);
  for (let at = 0; at < shaded.data.length; at++) shaded.data[at] = 255 - (180 * (at % 400)) / 400;
  expect(cutOutSheet(shaded)).toBeUndefined();
});

test("the four sides of an outline with cut corners are found", () => {
  const points = hull([
    [10, 0],
    [90, 0],
    [100, 8],
    [100, 50],
    [0, 50],
    [0, 9],
    [50, 20],
  ]);
  expect(points).toHaveLength(6);
  const corners = quadrilateral(points);
  expect(corners?.map(([x, y]) => [Math.round(x), Math.round(y)])).toEqual([
    [0, 0],
    [100, 0],
    [100, 50],
    [0, 50],
  ]);
  expect(area(corners ?? [])).toBeCloseTo(5000);
});
