// Requests with different LoRA adapters share no cached tokens and take turns. FakeEngine fails on a step that mixes
// adapters and on a row that reads cells computed with others.

import { describe, expect, test } from "bun:test";
import { adapterKey, type AdapterSet } from "../../src/domain/adapters.ts";
import type { SchedulerLimits } from "../../src/scheduler/limits.ts";
import { Scheduler } from "../../src/scheduler/scheduler.ts";
import { FakeEngine, LIMITS, type Cost } from "./fake-engine.ts";

const BASE: AdapterSet = [];
const A = [{ id: 0, scale: 1 }];
const HALF_A = [{ id: 0, scale: 0.5 }];
const AB = [...A, { id: 1, scale: 1 }];
const SETS = [BASE, A, HALF_A, AB];

const LAYOUTS: [string, SchedulerLimits][] = [
  ["unified", { ...LIMITS, cells: 4096 }],
  ["streams", { ...LIMITS, layout: "streams", cells: 4096, sequences: 4 }],
];
const header = Array.from({ length: 300 }, (_, at) => 1_000_000 + at);
const cost: Cost = (decodeRows, prefillRows) => 5 + decodeRows + prefillRows * 0.5;

const add = (engine: FakeEngine, key: number, prompt: number | readonly number[], tokens: number, set: AdapterSet) =>
  engine.add(key, prompt, tokens, `client ${key}`, { speculate: true, adapters: set });

describe.each(LAYOUTS)("%s: the same prompt with different adapters", (_, limits) => {
  test("is computed separately for each, and only once for each", () => {
    const engine = new FakeEngine(limits);
    SETS.forEach((set, at) => add(engine, at, header, 5, set));
    engine.run();
    expect(engine.prefilled).toBe(SETS.length * 300);
    SETS.forEach((set, at) => add(engine, 10 + at, [...header, 7], 5, set));
    engine.run();
    expect(SETS.map((_set, at) => [engine.cached.get(at), engine.cached.get(10 + at)])).toEqual(
      SETS.map(() => [0, 300]),
    );
  });

  test("waits for a running computation only if that has the same adapters", () => {
    const engine = new FakeEngine({ ...limits, batch: 64 });
    [BASE, BASE, A, A].forEach((set, at) => add(engine, at, [...header, at], 5, set));
    engine.step();
    engine.step();
    expect([0, 1, 2, 3].map((key) => engine.rowsOf(key).length)).toEqual([64, 0, 64, 0]);
    engine.run();
    expect([0, 1, 2, 3].map((key) => engine.cached.get(key))).toEqual([0, 300, 0, 300]);
  });

  test("is not restored from host memory for other adapters", () => {
    const engine = new FakeEngine({ ...limits, cells: 1400, sequences: 2, parallel: 2, hostBytes: 5000 });
    add(engine, 1, 600, 20, A);
    engine.run();
    for (const key of [2, 3]) {
      engine.now += 1000;
      add(engine, key, 500, 5, BASE);
      engine.run();
    }
    expect(engine.scheduler.kv.host.tokens).toBeGreaterThan(0);
    const next = [...(engine.jobs.get(1)?.tokens ?? []), 5, 6, 7];
    for (const [key, set] of [BASE, HALF_A, AB, A].entries()) {
      engine.now += 1000;
      add(engine, 10 + key, next, 5, set);
      engine.run();
    }
    expect([10, 11, 12, 13].map((key) => engine.cached.get(key))).toEqual([0, 0, 0, 619]);
  });
});

test("sequences leave nothing behind, however many adapter sets there were", () => {
  const engine = new FakeEngine({ ...LIMITS, reuse: false });
  for (let key = 1; key <= 50; key++) add(engine, key, 20, 3, [{ id: 0, scale: key / 50 }]);
  engine.run();
  expect([engine.scheduler.kv.cells, engine.cells]).toEqual([0, 0]);
});

test("a medium is computed with the adapters of its request", () => {
  const scheduler = new Scheduler(LIMITS);
  const media = [{ start: 0, tokens: 8, positions: 8, whole: false }];
  scheduler.add({ key: 1, prompt: new Int32Array(10).fill(-5, 0, 8), maxTokens: 2, media, adapters: AB }, 0);
  expect(scheduler.plan(0)).toBeUndefined();
  expect(scheduler.planMedia(0)?.adapters).toEqual(AB);
});

test("streams of different adapters take turns, step by step", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 4096 });
  SETS.forEach((set, at) => add(engine, at, 8, 40, set));
  engine.run();
  const turns = engine.plans.map(({ adapters }) => adapterKey(adapters));
  const whole = turns.slice(0, SETS.length * 40);
  whole.forEach((key, at) => expect(key).toBe(whole[at % SETS.length] ?? ""));
  expect(new Set(whole.slice(0, SETS.length)).size).toBe(SETS.length);
});

test("a long prompt with one adapter does not stop streams with another, and they do not stop it", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 8192 }, cost);
  add(engine, 1, 10, 200, BASE);
  add(engine, 2, 10, 200, A);
  while (engine.output(2).length < 20) engine.step();
  add(engine, 3, 4000, 2, AB);
  engine.run();
  // A step of its own set, a step of A, and a piece of the prompt.
  const steps = 2 * cost(1, 0, 0, 0) + cost(0, 0, 0, 0);
  expect(engine.longestGap(1)).toBeLessThan(1.2 * (steps + LIMITS.stallBudgetMs));
  expect(engine.longestGap(2)).toBeLessThan(1.2 * (steps + LIMITS.stallBudgetMs));
  const begun = engine.jobs.get(3)?.tokenAt[0] ?? Number.POSITIVE_INFINITY;
  expect(begun).toBeLessThan(engine.jobs.get(1)?.tokenAt.at(-1) ?? 0);
});

test.each([0, 64])("a background prompt waits for the others of any adapter set, chunks of %d", (chunk) => {
  const firstTokenMs = (background: number) => {
    const engine = new FakeEngine({ ...LIMITS, cells: 16_384, parallel: 6, chunk }, cost);
    add(engine, 1, 10, 400, BASE);
    while (engine.output(1).length < 10) engine.step();
    for (let key = 2; key < 2 + background; key++) {
      engine.add(key, 2000, 3, "batch", { background: true, adapters: AB });
    }
    engine.step();
    add(engine, 10, 1000, 3, A);
    engine.run();
    const job = engine.jobs.get(10);
    return (job?.tokenAt[0] ?? Number.NaN) - (job?.addedAt ?? 0);
  };
  expect(firstTokenMs(3)).toBeLessThan(1.2 * firstTokenMs(0));
});

test("long prompts of several adapter sets share the stall budget of the streams", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 16_384, batch: 512, parallel: 6 }, cost);
  add(engine, 1, 10, 400, BASE);
  add(engine, 2, 10, 400, A);
  while (engine.output(2).length < 10) engine.step();
  SETS.forEach((set, at) => add(engine, 3 + at, 1500, 2, set));
  engine.run();
  const steps = 2 * cost(1, 0, 0, 0) + 2 * cost(0, 0, 0, 0);
  for (const key of [1, 2]) expect(engine.longestGap(key)).toBeLessThan(1.2 * (steps + LIMITS.stallBudgetMs));
  const firsts = SETS.map((_set, at) => engine.jobs.get(3 + at)?.tokenAt[0] ?? 0);
  expect(Math.max(...firsts) / Math.min(...firsts)).toBeLessThan(1.2);
});

test("a sequence of new adapter sets does not hold back running requests", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 4096 }, cost);
  let key = 1;
  engine.onFinish = (finished) => {
    if (finished > 0 && key < 100) add(engine, ++key, 10, 1, [{ id: 0, scale: key }]);
  };
  add(engine, 0, 10, 30, BASE);
  for (; key < 3; key++) add(engine, key, 10, 1, [{ id: 0, scale: key }]);
  engine.run();
  const kept = engine.plans.map(({ adapters }) => adapters.length === 0);
  const last = kept.lastIndexOf(true);
  expect(kept.slice(0, last).filter((base) => base).length).toBeGreaterThanOrEqual(29);
  expect(last).toBeLessThan(30 * LIMITS.parallel);
});

describe("prompts computed in slices", () => {
  const limits = { ...LIMITS, cells: 8192, chunk: 64, stallBudgetMs: 20, parallel: 6 };
  test("are in chunks of one set, which take turns, and one slice at a time interrupts the streams", () => {
    const engine = new FakeEngine(limits, cost);
    add(engine, 1, 10, 400, BASE);
    add(engine, 2, 10, 400, A);
    while (engine.output(2).length < 10) engine.step();
    const from = engine.plans.length;
    // The set that also has a stream gets its turns, too.
    for (const [key, set] of [A, AB, HALF_A].entries()) add(engine, 3 + key, 640, 2, set);
    while (engine.output(5).length === 0) engine.step();
    const chunks = engine.plans.slice(from).filter(({ rows }) => !rows.some(({ sample }) => sample));
    expect(chunks.slice(0, 27).map(({ rows }) => rows[0]?.key)).toEqual(
      Array.from({ length: 27 }, (_, at) => 3 + (at % 3)),
    );
    // A step of each set and one slice; for a burst, a slice is a whole chunk.
    const turns = cost(0, limits.chunk, 0, 0) + SETS.length * cost(1, 1, 0, 0);
    expect(engine.longestGap(1)).toBeLessThanOrEqual(turns);
    expect(engine.longestGap(2)).toBeLessThanOrEqual(turns);
    engine.run();
    expect([1, 2, 3, 4, 5].map((key) => engine.output(key).length)).toEqual([400, 400, 2, 2, 2]);
  });

  test("use the whole time of a slice, and then each set with streams gets a step", () => {
    const engine = new FakeEngine({ ...limits, chunk: 16, stallBudgetMs: 40 }, cost);
    add(engine, 1, 10, 400, BASE);
    add(engine, 2, 10, 400, A);
    while (engine.output(2).length < 10) engine.step();
    const from = engine.plans.length;
    for (const [key, set] of [A, AB].entries()) add(engine, 3 + key, 640, 2, set);
    while (engine.prefilled < 600) engine.step();
    // A chunk is a dot, a step is the key of the request that it computes.
    const plans = engine.plans.slice(from).map(({ rows }) => (rows[0]?.sample ? rows[0].key : "."));
    const runs = plans.join("").match(/\.+|\d+/g) ?? [];
    const steps = runs.slice(1, -1).filter((run) => !run.startsWith("."));
    expect(steps.length).toBeGreaterThan(5);
    for (const run of steps) expect([..."12"].every((key) => run.split(key).length === 2)).toBe(true);
    expect(Math.max(...runs.filter((run) => run.startsWith(".")).map((run) => run.length))).toBeGreaterThan(1);
  });

  test("leave multi-step decoding on for streams of other sets as well as of the same set", () => {
    const steps = [BASE, A].map((set) => {
      const engine = new FakeEngine(limits, (decodeRows, prefillRows) => decodeRows + prefillRows);
      engine.multiStep = true;
      add(engine, 1, 10, 2000, BASE);
      while (engine.output(1).length < 50) engine.step();
      const from = engine.plans.length;
      add(engine, 2, 640, 1, set);
      while (engine.output(2).length === 0) engine.step();
      return Math.max(...engine.plans.slice(from).map((plan) => plan.steps));
    });
    expect(steps[0]).toBeGreaterThan(1);
    expect(steps[1]).toBe(steps[0]);
  });
});

test("drafts are made only for the streams of the next step, which uses them", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 4096, draftMax: 4, draftAdaptive: false }, cost);
  SETS.forEach((set, at) => add(engine, at, 8, 60, set));
  engine.run();
  const speculative = engine.plans.filter(({ speculativeRows }) => speculativeRows > 0);
  expect(new Set(speculative.map(({ adapters }) => adapterKey(adapters))).size).toBe(SETS.length);
  expect(engine.drafts).toBeLessThanOrEqual(engine.plans.length);
  const { drafts, tokens, accepted } = engine.scheduler.speculated.draft;
  expect([drafts > 0, accepted[0]]).toEqual([true, drafts]);
  expect(tokens).toBe(accepted.reduce((sum, right) => sum + right, 0));
  SETS.forEach((_set, at) => expect(engine.output(at).length).toBe(60));
});
