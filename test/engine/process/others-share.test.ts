import { expect, test } from "bun:test";
import { cpus } from "node:os";
import { othersShare } from "../../../src/engine/process/others-share.ts";

test("the share of other processes is between 0 and 1", () => {
  for (const own of [0, 1, cpus().length]) {
    expect(othersShare(own)).toBeGreaterThanOrEqual(0);
    expect(othersShare(own)).toBeLessThanOrEqual(1);
  }
  expect(othersShare(1_000_000)).toBe(0);
});

test.skipIf(process.platform !== "linux")("a running process counts as one that needs a core", () => {
  expect(othersShare(0)).toBeGreaterThan(0);
});
