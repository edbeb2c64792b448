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

  test("is what fits the budget", () => {
    expect(measured(0.5).tokensBeside(50)).toBe(100);
  });

  test("is small where nothing fits", () => {
    expect(measured(6).tokensBeside(50)).toBe(16);
  });

  test("is small before anything is known", () => {
    expect(new StepCost().tokensBeside(50)).toBe(16);
  });
});

describe("the price of a prompt token", () => {
  test("is not what a prompt costs that is nearly all in the cache", () => {
    const cost = new StepCost();
    cost.record(0, 100, 50, NONE);
    for (let step = 0; step < 20; step++) cost.record(0, 1, 10, NONE);
    expect(cost.prefillMs(100)).toBe(50);
    cost.record(1, 0, 3, NONE);
    expect(cost.decodeStepsWithin(12, 1)).toBe(4);
  });

  test("is at most that, before anything else is known", () => {
    const cost = new StepCost();
    cost.record(0, 4, 8, NONE);
    expect(cost.prefillMs(1)).toBe(2);
    cost.record(0, 8, 8, NONE);
    expect(cost.prefillMs(1)).toBe(1);
  });
});
