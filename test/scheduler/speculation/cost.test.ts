import { describe, expect, test } from "bun:test";
import { GuessCost, type Guessing } from "../../../src/scheduler/speculation/cost.ts";
import { GuessExperience, GuessGate } from "../../../src/scheduler/speculation/gate.ts";

/** Learned from a step of 100 ms, guesses of 10 ms each, and `round` ms for each drafted token. */
function costs(round: number): GuessCost {
  const cost = new GuessCost();
  cost.recordStep(1, 0, 100);
  for (const guesses of [1, 2, 4, 8]) cost.recordStep(1, guesses, 100 + 10 * guesses);
  cost.recordDraft(4, 4 * round);
  return cost;
}

const alone = (right: number): Guessing => ({ right, streams: 1, guessing: 1, most: 8, drafted: true });

describe("as many tokens are guessed as pay", () => {
  test.each([
    ["always right, cheap", 1, 5, 8],
    ["mostly right, cheap", 0.8, 5, 5],
    ["rarely right", 0.1, 5, 0],
    ["always right, but nearly as slow as the model", 1, 95, 0],
  ])("%s", (_name, right, round, expected) => {
    expect(costs(round).best(alone(right)).count).toBe(expected);
  });

  test("what is saved is what a token costs less", () => {
    // Nine tokens in 100 + 8 × 15 ms.
    expect(costs(5).best(alone(1)).savedMs).toBeCloseTo(100 - 220 / 9);
  });

  test("several streams pay for each other's guesses", () => {
    const cost = costs(5);
    cost.recordStep(4, 0, 100);
    const crowd = { ...alone(0.8), streams: 4, guessing: 4 };
    expect(cost.best(crowd).count).toBeLessThan(cost.best(alone(0.8)).count);
  });
});

describe("what guesses cost", () => {
  const started = () => {
    const cost = new GuessCost();
    cost.recordStep(1, 0, 10);
    return cost;
  };
  const counts = (cost: GuessCost, right: number) => cost.best({ ...alone(right), drafted: false }).count;

  test("is taken for little until it was measured", () => {
    expect(counts(started(), 0.7)).toBeGreaterThan(3);
    expect(new GuessCost().knows(1)).toBe(false);
  });

  test("is learned for each number of them: the first may cost a step, and the next ones nothing", () => {
    const cost = started();
    for (let at = 0; at < 20; at++) for (const guesses of [1, 2, 4, 8]) cost.recordStep(1, guesses, 20 + 0.1 * guesses);
    expect(counts(cost, 0.5)).toBe(0);
    expect(counts(cost, 0.95)).toBe(8);
  });

  test("is not what one disturbed step took, and is tried again some day", () => {
    const cost = started();
    for (const guesses of [1, 2, 4, 8]) cost.recordStep(1, guesses, 2000);
    expect(counts(cost, 0.9)).toBe(0);
    cost.countSteps(1000);
    expect(counts(cost, 0.9)).toBeGreaterThan(0);
  });

  test("is everybody's: one who guesses among four must gain more than one alone", () => {
    const cost = started();
    cost.recordStep(4, 0, 10);
    for (let at = 0; at < 20; at++) for (const guesses of [1, 2, 4, 8]) cost.recordStep(1, guesses, 15 + guesses);
    expect(counts(cost, 0.9)).toBeGreaterThan(0);
    expect(cost.best({ ...alone(0.9), streams: 4, drafted: false }).count).toBe(0);
  });
});

describe("a request's gate", () => {
  const run = (isRight: (at: number) => boolean) => {
    const gate = new GuessGate(new GuessExperience(0.7));
    const cost = costs(5);
    const drafted: number[] = [];
    for (let length = 0; length < 1000; length++) {
      const { count } = gate.next(length, cost, alone(0));
      drafted.push(count);
      if (count > 0) gate.learn(count, isRight(length) ? count : 0);
    }
    return drafted;
  };

  test("opens where drafts are right", () => {
    expect(run(() => true).slice(-100)).toEqual(Array(100).fill(8));
  });

  test("closes where they are wrong, and looks again now and then", () => {
    const drafted = run(() => false);
    const late = drafted.slice(-600);
    expect(late.filter((count) => count > 0).length).toBeLessThan(6);
    expect(late.some((count) => count === 1)).toBe(true);
  });

  test("opens again when they get right", () => {
    expect(run((length) => length > 200).slice(-50)).toEqual(Array(50).fill(8));
  });

  test("begins where other requests ended", () => {
    const experience = new GuessExperience(0.7);
    const first = new GuessGate(experience);
    for (let series = 0; series < 100; series++) first.learn(4, 0);
    const second = new GuessGate(experience);
    expect(second.expected).toBeLessThan(0.1);
    expect(costs(5).best(alone(second.expected)).count).toBe(0);
  });
});
