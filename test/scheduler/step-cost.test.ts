import { describe, expect, test } from "bun:test";
import { StepCost } from "../../src/scheduler/step-cost.ts";

describe("the size of a prompt chunk beside streams", () => {
  const measured = ({ small, large }: { small: number; large: number }) => {
    const cost = new StepCost();
    for (let step = 0; step < 20; step++) {
      cost.record(4, 0, 10, 0);
      cost.record(4, 16, 10 + 16 * small, 0);
      cost.record(4, 64, 10 + 64 * large, 0);
    }
    return cost;
  };

  test("is what fits the budget", () => {
    const cost = measured({ small: 1, large: 0.5 });
    expect(cost.tokensBeside(50)).toBe(100);
    expect(cost.tokensBeside(20)).toBe(20);
  });

  test("is small where nothing fits and a token costs the same in any chunk", () => {
    expect(measured({ small: 6, large: 5 }).tokensBeside(50)).toBe(16);
  });

  test("is large where nothing fits and small chunks waste half of the time", () => {
    expect(measured({ small: 9, large: 4 }).tokensBeside(50)).toBe(64);
  });

  test("is small before anything is known", () => {
    expect(new StepCost().tokensBeside(50)).toBe(16);
  });
});
