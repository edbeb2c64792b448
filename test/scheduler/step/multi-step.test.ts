import { describe, expect, test } from "bun:test";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

/** Runs requests of these lengths on a machine on which a decode step takes `stepMs`. */
function run(stepMs: number, lengths: readonly number[], multiStep = true, limits = LIMITS) {
  const engine = new FakeEngine(limits, () => stepMs);
  engine.multiStep = multiStep;
  for (const [index, length] of lengths.entries()) engine.add(index + 1, 10, length);
  engine.run();
  return engine;
}

const steps = (engine: FakeEngine) => engine.plans.map((plan) => plan.steps);

test("several fast decode steps run in one call and sample the same tokens", () => {
  const lengths = [60, 35, 50, 45];
  const [one, many] = [run(1, lengths, false), run(1, lengths)];
  expect(Math.max(...steps(one))).toBe(1);
  expect(Math.max(...steps(many))).toBeGreaterThan(4);
  for (const key of [1, 2, 3, 4]) expect(many.output(key)).toEqual(one.output(key));
  expect(many.now).toBe(one.now);
});

test("with few streams, calls are shorter than with many", () => {
  const longest = (streams: number, stepMs: number) => Math.max(...steps(run(stepMs, Array(streams).fill(60))));
  expect([1, 3, 4].map((streams) => longest(streams, 2))).toEqual([2, 2, 8]);
  expect([1, 4].map((streams) => longest(streams, 6))).toEqual([1, 2]);
});

test("slow steps run one at a time", () => {
  expect(Math.max(...steps(run(60, [60])))).toBe(1);
});

test("a call ends with the first request that is complete", () => {
  const engine = run(0.01, [3, 50]);
  expect(engine.output(1).length).toBe(3);
  expect(engine.output(2).length).toBe(50);
});

test("no prompt waits for several steps", () => {
  const engine = new FakeEngine(LIMITS, () => 1);
  engine.multiStep = true;
  engine.add(1, 10, 100);
  for (let count = 0; count < 5; count++) engine.step();
  engine.add(2, 300, 2);
  while (engine.output(2).length === 0) expect(engine.step()?.steps).toBe(1);
});

test("several steps never exceed the cache", () => {
  const engine = run(0.01, [30, 30, 30], true, { ...LIMITS, cells: 64 });
  for (const key of [1, 2, 3]) expect(engine.output(key).length).toBe(30);
});

test("one request that needs every token checked limits all to single steps", () => {
  const engine = new FakeEngine(LIMITS, () => 1);
  engine.add(1, 10, 30);
  engine.multiStep = true;
  engine.add(2, 10, 60);
  engine.run();
  const together = engine.plans.filter((plan) => plan.rows.some(({ key }) => key === 1));
  expect(Math.max(...together.map((plan) => plan.steps))).toBe(1);
  expect(Math.max(...steps(engine))).toBeGreaterThan(1);
});

describe("requests of different adapters", () => {
  const adapters = [{ id: 0, scale: 1 }];

  test("take turns at multi-step decoding, and share the time that it may take", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 4096 }, () => 1);
    engine.multiStep = true;
    engine.add(1, 10, 400);
    engine.add(2, 10, 400, "", { adapters });
    engine.run();
    const together = engine.plans.slice(2).filter(({ steps: made }) => made > 1);
    const keys = together.map(({ rows }) => rows[0]?.key);
    expect(keys.length).toBeGreaterThan(10);
    keys.slice(1).forEach((key, at) => expect(key).not.toBe(keys[at]));
    const alone = Math.max(...steps(run(1, [400])));
    expect(Math.max(...together.slice(0, 10).map(({ steps: made }) => made))).toBeLessThanOrEqual(alone / 2);
  });

  test("do not delay a prompt by multi-step decoding", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 4096 }, (_, prompt) => 1 + prompt);
    engine.multiStep = true;
    engine.add(1, 10, 200);
    for (let count = 0; count < 5; count++) engine.step();
    engine.add(2, 300, 2, "", { adapters });
    while (engine.output(2).length === 0) expect(engine.step()?.steps).toBe(1);
  });

  test("leave free cells in the cache for each other", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 100 }, () => 0.01);
    engine.multiStep = true;
    engine.add(1, 10, 12);
    engine.add(2, 10, 85, "", { adapters });
    engine.run();
    expect([1, 2].map((key) => engine.output(key).length)).toEqual([12, 85]);
    expect(engine.scheduler.preemptions).toBe(0);
  });
});
