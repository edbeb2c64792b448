import { describe, expect, test } from "bun:test";
import { StepCost } from "../../src/scheduler/step-cost.ts";

describe("the size of a prompt chunk in a step of streams", () => {
  const measured = (tokenMs: number) => {
    const cost = new StepCost();
    for (let step = 0; step < 20; step++) {
      cost.record(4, 0, 10, 0);
      cost.record(4, 64, 10 + 64 * tokenMs, 0);
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
