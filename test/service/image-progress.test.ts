import { expect, test } from "bun:test";
import type { DrawingEvent } from "../../src/domain/image.ts";
import { ImageProgresses } from "../../src/service/image-progress.ts";

const step = (image: number, at: number, steps: number): DrawingEvent => ({ type: "progress", image, step: at, steps });
const done = (image: number): DrawingEvent => ({
  type: "image",
  image,
  data: new Uint8Array(),
  size: { width: 64, height: 64 },
  seed: 1,
});

test("a place becomes free when the request with the fewest steps ends, as requests take turns", () => {
  let seconds: number | undefined;
  const all = new ImageProgresses(() => seconds);
  const [long, short] = [all.begin(2), all.begin(1)];
  long.see(step(0, 1, 10));
  // The duration of a step has not been measured yet.
  expect(all.placeFreeMs()).toBeUndefined();
  seconds = 0.5;
  // The short request has not begun, so nineteen steps of the long one remain.
  expect([all.stepsLeft, all.placeFreeMs()]).toEqual([19, 9500]);
  short.see(step(0, 2, 4));
  expect([all.stepsLeft, all.placeFreeMs()]).toEqual([21, 2 * 2 * 500]);
  short.see(done(0));
  all.end(short);
  long.see(done(0));
  expect(long).toMatchObject({ done: 1, of: 2, step: 0, steps: 10 });
  expect(all.stepsLeft).toBe(10);
  all.end(long);
  expect([all.stepsLeft, all.placeFreeMs()]).toEqual([0, undefined]);
});
