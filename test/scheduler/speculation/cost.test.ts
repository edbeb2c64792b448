import { describe, expect, test } from "bun:test";
import { SpeculationCost, type SpeculativeStep } from "../../../src/scheduler/speculation/cost.ts";
import { Drafts } from "../../../src/scheduler/speculation/drafts.ts";
import type { Sequence } from "../../../src/scheduler/sequence.ts";
import { AcceptanceRate, SpeculationGate } from "../../../src/scheduler/speculation/gate.ts";

/** Costs measured from a step of 100 ms, 10 ms per speculative token and `round` ms per drafted token. */
function costs(round: number): SpeculationCost {
  const cost = new SpeculationCost();
  cost.recordStep(1, 0, 100);
  for (const tokens of [1, 2, 4, 8]) cost.recordStep(1, tokens, 100 + 10 * tokens);
  cost.recordDraft(4, 4 * round);
  return cost;
}

const drafted = (cost: SpeculationCost, tokens: Int32Array | undefined) => {
  const sequence = { key: 1, id: 0 } as unknown as Sequence;
  const job = { key: 1, sequence: 0, position: 0, tokens: Int32Array.of(1), count: 4 };
  const ms = tokens ? 20 : 0.01;
  new Drafts({ draftMax: 8, draftAdaptive: true, batch: 64, stallBudgetMs: 50 }, cost).apply(
    { jobs: [job], tokens: [tokens], rounds: tokens ? 4 : 0, ms },
    () => sequence,
  );
};

test("a draft that could not be computed costs nothing that later drafts would pay", () => {
  const cost = costs(5);
  drafted(cost, undefined);
  expect(cost.best(alone(1)).count).toBe(8);
  drafted(cost, Int32Array.of(1, 2, 3, 4));
  expect(cost.best(alone(1)).count).toBe(8);
});

const alone = (acceptance: number): SpeculativeStep => ({
  acceptance,
  streams: 1,
  speculating: 1,
  most: 8,
  usesDraftModel: true,
});

describe("the number of speculative tokens is the most profitable one", () => {
  test.each([
    ["always accepted, cheap", 1, 5, 8],
    ["mostly accepted, cheap", 0.8, 5, 5],
    ["rarely accepted", 0.1, 5, 0],
    ["always accepted, but nearly as slow as the model", 1, 95, 0],
  ])("%s", (_name, acceptance, round, expected) => {
    expect(costs(round).best(alone(acceptance)).count).toBe(expected);
  });

  test("savedMs is the time saved per token", () => {
    // Nine tokens in 100 + 8 × 15 ms.
    expect(costs(5).best(alone(1)).savedMs).toBeCloseTo(100 - 220 / 9);
  });

  test("with several streams, the speculative tokens of one also cost the others", () => {
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

  test("is learned for each number of tokens: the first may cost a step, and the next ones nothing", () => {
    const cost = started();
    for (let at = 0; at < 20; at++) for (const tokens of [1, 2, 4, 8]) cost.recordStep(1, tokens, 20 + 0.1 * tokens);
    expect(counts(cost, 0.5)).toBe(0);
    expect(counts(cost, 0.95)).toBe(8);
  });

  test("is not fixed by one disturbed step: it is measured again after a while", () => {
    const cost = started();
    for (const tokens of [1, 2, 4, 8]) cost.recordStep(1, tokens, 2000);
    expect(counts(cost, 0.9)).toBe(0);
    cost.countSteps(1000);
    expect(counts(cost, 0.9)).toBeGreaterThan(0);
  });

  test("affects all streams: one speculating stream among four must gain more than one alone", () => {
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

  test("opens when drafts are accepted", () => {
    expect(run(() => true).slice(-100)).toEqual(Array(100).fill(8));
  });

  test("closes when drafts are rejected, and tries again occasionally", () => {
    const drafted = run(() => false);
    const late = drafted.slice(-600);
    expect(late.filter((count) => count > 0).length).toBeLessThan(6);
    expect(late.some((count) => count === 1)).toBe(true);
  });

  test("opens again when drafts are accepted again", () => {
    expect(run((length) => length > 200).slice(-50)).toEqual(Array(50).fill(8));
  });

  test("starts with the acceptance rate of other requests", () => {
    const overall = new AcceptanceRate(0.7);
    const first = new SpeculationGate(overall);
    for (let series = 0; series < 100; series++) first.record(4, 0);
    const second = new SpeculationGate(overall);
    expect(second.acceptance).toBeLessThan(0.1);
    expect(costs(5).best(alone(second.acceptance)).count).toBe(0);
  });
});
