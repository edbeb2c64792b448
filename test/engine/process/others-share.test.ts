import { expect, test } from "bun:test";
import { cpus } from "node:os";
import { crowding, othersShare } from "../../../src/engine/process/others-share.ts";

test("the share of others is one of the machine, and never below nothing", () => {
  for (const own of [0, 1, cpus().length]) {
    expect(othersShare(own)).toBeGreaterThanOrEqual(0);
    expect(othersShare(own)).toBeLessThanOrEqual(1);
  }
  expect(othersShare(1_000_000)).toBe(0);
});

test.skipIf(process.platform !== "linux")("who computes is among those that want a core", () => {
  expect(othersShare(0)).toBeGreaterThan(0);
  expect(crowding()).toBeGreaterThanOrEqual(1);
});
