import { describe, expect, test } from "bun:test";
import { SpeculationCost, type SpeculativeStep } from "../../../src/scheduler/speculation/cost.ts";
import { AcceptanceRate, SpeculationGate } from "../../../src/scheduler/speculation/gate.ts";

/** Learned from a step of 100 ms, 10 ms for each speculative token, and `round` ms for each drafted one. */
function costs(round: number): SpeculationCost {
  const cost = new SpeculationCost();
  cost.recordStep(1, 0, 100);
  for (const tokens of [1, 2, 4, 8]) cost.recordStep(1, tokens, 100 + 10 * tokens);
  cost.recordDraft(4, 4 * round);
  return cost;
}

const alone = (acceptance: number): SpeculativeStep => ({
  acceptance,
  streams: 1,
  speculating: 1,
  most: 8,
  usesDraftModel: true,
});

describe("as many speculative tokens are tried as pay", () => {
  test.each([
    ["always accepted, cheap", 1, 5, 8],
    ["mostly accepted, cheap", 0.8, 5, 5],
    ["rarely accepted", 0.1, 5, 0],
    ["always accepted, but nearly as slow as the model", 1, 95, 0],
  ])("%s", (_name, acceptance, round, expected) => {
    expect(costs(round).best(alone(acceptance)).count).toBe(expected);
  });

  test("savedMs is by how much a token costs less", () => {
    // Nine tokens in 100 + 8 × 15 ms.
    expect(costs(5).best(alone(1)).savedMs).toBeCloseTo(100 - 220 / 9);
  });

  test("several streams pay for each other's speculative tokens", () => {
    const cost = costs(5);
    cost.recordStep(4, 0, 100);
    const burst = { ...alone(0.8), streams: 4, speculating: 4 };
    expect(cost.best(burst).count).toBeLessThan(cost.best(alone(0.8)).count);
  });
});

describe("the cost of speculative tokens", () => {
  const started = () => {
    const cost = new SpeculationCost();
    cost.recordStep(1, 0, 10);
    return cost;
  };
  const counts = (cost: SpeculationCost, acceptance: number) =>
    cost.best({ ...alone(acceptance), usesDraftModel: false }).count;

  test("is assumed to be small until it is measured", () => {
    expect(counts(started(), 0.7)).toBeGreaterThan(3);
    expect(new SpeculationCost().knows(1)).toBe(false);
  });

  test("is learned for each number of them: the first may cost a step, and the next ones nothing", () => {
    const cost = started();
    for (let at = 0; at < 20; at++) for (const tokens of [1, 2, 4, 8]) cost.recordStep(1, tokens, 20 + 0.1 * tokens);
    expect(counts(cost, 0.5)).toBe(0);
    expect(counts(cost, 0.95)).toBe(8);
  });

  test("is not what one disturbed step took, and is tried again some day", () => {
    const cost = started();
    for (const tokens of [1, 2, 4, 8]) cost.recordStep(1, tokens, 2000);
    expect(counts(cost, 0.9)).toBe(0);
    cost.countSteps(1000);
    expect(counts(cost, 0.9)).toBeGreaterThan(0);
  });

  test("is shared: one speculating stream among four must gain more than one alone", () => {
    const cost = started();
    cost.recordStep(4, 0, 10);
    for (let at = 0; at < 20; at++) for (const tokens of [1, 2, 4, 8]) cost.recordStep(1, tokens, 15 + tokens);
    expect(counts(cost, 0.9)).toBeGreaterThan(0);
    expect(cost.best({ ...alone(0.9), streams: 4, usesDraftModel: false }).count).toBe(0);
  });
});

describe("a request's gate", () => {
  const run = (isAccepted: (at: number) => boolean) => {
    const gate = new SpeculationGate(new AcceptanceRate(0.7));
    const cost = costs(5);
    const drafted: number[] = [];
    for (let length = 0; length < 1000; length++) {
      const { count } = gate.next(length, cost, alone(0));
      drafted.push(count);
      if (count > 0) gate.record(count, isAccepted(length) ? count : 0);
    }
    return drafted;
  };

  test("opens where drafts are accepted", () => {
    expect(run(() => true).slice(-100)).toEqual(Array(100).fill(8));
  });

  test("closes where they are rejected, and tries again now and then", () => {
    const drafted = run(() => false);
    const late = drafted.slice(-600);
    expect(late.filter((count) => count > 0).length).toBeLessThan(6);
    expect(late.some((count) => count === 1)).toBe(true);
  });

  test("opens again when they are accepted again", () => {
    expect(run((length) => length > 200).slice(-50)).toEqual(Array(50).fill(8));
  });

  test("begins where other requests ended", () => {
    const overall = new AcceptanceRate(0.7);
    const first = new SpeculationGate(overall);
    for (let series = 0; series < 100; series++) first.record(4, 0);
    const second = new SpeculationGate(overall);
    expect(second.acceptance).toBeLessThan(0.1);
    expect(costs(5).best(alone(second.acceptance)).count).toBe(0);
  });
});
