import { describe, expect, test } from "bun:test";
import { StepCost } from "../../../src/scheduler/cost/step-cost.ts";

const NONE = { running: 0, idle: 0 };

describe("the size of a prompt chunk in a step of streams", () => {
  const measured = (tokenMs: number) => {
    const cost = new StepCost();
    for (let step = 0; step < 20; step++) {
      cost.record(4, 0, 10, NONE);
      cost.record(4, 64, 10 + 64 * tokenMs, NONE);
    }
    return cost;
  };

  test("is as large as the stall budget allows", () => {
    expect(measured(0.5).tokensBeside(50)).toBe(100);
  });

  test("is small when nothing fits", () => {
    expect(measured(6).tokensBeside(50)).toBe(16);
  });

  test("is small before any cost is known", () => {
    expect(new StepCost().tokensBeside(50)).toBe(16);
  });
});

describe("the price of a prompt token", () => {
  test("is not derived from a prompt that is almost completely cached", () => {
    const cost = new StepCost();
    cost.record(0, 100, 50, NONE);
    for (let step = 0; step < 20; step++) cost.record(0, 1, 10, NONE);
    expect(cost.prefillMs(100)).toBe(50);
    cost.record(1, 0, 3, NONE);
    expect(cost.decodeStepsWithin(12, 1)).toBe(4);
  });

  test("is at most that of such a prompt before anything else is known", () => {
    const cost = new StepCost();
    cost.record(0, 4, 8, NONE);
    expect(cost.prefillMs(1)).toBe(2);
    cost.record(0, 8, 8, NONE);
    expect(cost.prefillMs(1)).toBe(1);
  });
});

test("a step that is disturbed by other programs hardly changes what a step is expected to cost", () => {
  const cost = new StepCost();
  for (let step = 0; step < 10; step++) cost.record(4, 0, 10, NONE);
  cost.record(4, 0, 1000, NONE);
  expect(cost.decodeStepMs(4)).toBeLessThanOrEqual(15);
  // A machine that stays slow is not a disturbance.
  for (let step = 0; step < 20; step++) cost.record(4, 0, 100, NONE);
  expect(cost.decodeStepMs(4)).toBeGreaterThan(90);
});
