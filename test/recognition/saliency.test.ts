import { expect, test } from "bun:test";
import { attention } from "../../src/recognition/saliency/attention.ts";
import { objectness } from "../../src/recognition/saliency/objectness.ts";
import { REGION_RULES, salientRegions } from "../../src/recognition/saliency/salient-regions.ts";
import type { Box } from "../../src/domain/recognition.ts";
import { Drawing } from "./drawing.ts";

const covers = (outer: Box | undefined, x: number, y: number): boolean =>
  outer !== undefined && x >= outer.x && y >= outer.y && x < outer.x + outer.width && y < outer.y + outer.height;

/** Returns a gradient with grain and one object on it. */
function slope(width: number, height: number): Drawing {
  const image = new Drawing(width, height);
  for (let at = 0; at < image.data.length; at++) image.data[at] = 230 - (60 * (at % width)) / width - ((at * 7) % 5);
  return image.box(Math.floor(width * 0.7), Math.floor(height * 0.2), 40, 40, 10);
}

test("the most salient place is the one unlike its surroundings", () => {
  const image = slope(640, 480);
  const map = attention([image]);
  expect([map.width, map.height]).toEqual([64, 48]);
  const [first] = salientRegions(map, image, REGION_RULES.attention);
  expect(covers(first, 640 * 0.7 + 20, 480 * 0.2 + 20)).toBe(true);
  expect(first?.width).toBeLessThan(320);
  expect(Math.max(...map.data)).toBe(255);
});

test("colours count: a difference in one channel alone is salient", () => {
  const grey = new Drawing(300, 300, 128);
  const map = attention([grey, new Drawing(300, 300, 128).box(200, 40, 40, 40, 250), grey]);
  const [first] = salientRegions(map, grey, REGION_RULES.attention);
  expect(covers(first, 220, 60)).toBe(true);
});

test("objects on a background are boxed one by one, the most salient first", () => {
  const image = new Drawing(600, 400, 200).box(60, 80, 150, 200, 20).box(400, 100, 100, 120, 60);
  const found = salientRegions(objectness([image]), image, REGION_RULES.objectness);
  expect(found).toHaveLength(2);
  for (const [at, [x, y, width, height]] of [
    [60, 80, 150, 200],
    [400, 100, 100, 120],
  ].entries()) {
    const box = found[at];
    for (const [edge, wanted] of [
      [box?.x, x],
      [box?.y, y],
      [box?.width, width],
      [box?.height, height],
    ]) {
      expect(Math.abs((edge ?? 0) - (wanted ?? 0))).toBeLessThan(25);
    }
  }
});

test("an empty image has no regions, whatever its shape", () => {
  for (const [width, height] of [
    [1, 1],
    [2, 3],
    [400, 1],
    [300, 300],
  ] as const) {
    const image = new Drawing(width, height, 90);
    for (const [kind, map] of [
      ["attention", attention([image])],
      ["objectness", objectness([image])],
    ] as const) {
      expect(salientRegions(map, image, REGION_RULES[kind])).toEqual([]);
    }
  }
});

test("boxes lie within the image", () => {
  const image = new Drawing(333, 217, 255).box(300, 190, 33, 27);
  for (const box of salientRegions(objectness([image]), image, REGION_RULES.objectness)) {
    expect(box.x + box.width).toBeLessThanOrEqual(333);
    expect(box.y + box.height).toBeLessThanOrEqual(217);
  }
});
