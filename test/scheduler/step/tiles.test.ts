// Prompts behind cached prefixes, where attention is faster for a whole tile of rows.

import { describe, expect, test } from "bun:test";
import type { SchedulerLimits } from "../../../src/scheduler/limits.ts";
import type { StepPlan } from "../../../src/scheduler/plan.ts";
import { Random } from "../../support/random.ts";
import { FakeEngine, LIMITS, type Cost } from "../fake-engine.ts";

const TILE = 16;
const limits = {
  ...LIMITS,
  parallel: 8,
  layout: "paged",
  tile: TILE,
  cells: 16_384,
  batch: 128,
  sequences: 8,
} as const;
const range = (length: number, from: number) => Array.from({ length }, (_, at) => from + at);
const header = range(1000, 1_000_000);

/** Attention takes most of a row's time behind the header. */
const attention: Cost = (decode, prefill, cells) => (decode + prefill) * (0.1 + cells / 1000);

/** Returns an engine that has computed the header. */
function warm(cost: Cost = attention, changes: Partial<SchedulerLimits> = {}) {
  const engine = new FakeEngine({ ...limits, ...changes }, cost);
  engine.add(1, [...header, 1], 2);
  engine.run();
  return engine;
}

/** Returns how many rows a step has of each request. */
const lengthsOf = ({ rows }: StepPlan) => [...Map.groupBy(rows, ({ key }) => key).values()].map(({ length }) => length);

const computedFor = (engine: FakeEngine, key: number) => engine.rowsOf(key).filter(({ index }) => index < 1100);

describe("a short end of a prompt behind a long cached prefix", () => {
  test("is computed as a whole tile, with cached tokens before it", () => {
    const engine = warm();
    engine.add(2, [...header, ...range(8, 2)], 1);
    engine.run();
    expect(engine.rowsOf(2).map(({ index }) => index)).toEqual(range(TILE, header.length + 8 - TILE));
    expect(engine.cached.get(2)).toBe(1000);
  });

  test("is computed alone where that is faster", () => {
    const engine = warm();
    engine.add(2, [...header, 2, 3], 1);
    engine.run();
    expect(engine.rowsOf(2)).toHaveLength(2);
    const light = warm((decode, prefill, cells) => (decode + prefill) * (1 + cells / 100_000));
    light.add(2, [...header, ...range(8, 2)], 1);
    light.run();
    expect(light.rowsOf(2)).toHaveLength(8);
  });

  test("is computed alone before the cost of a prompt is known", () => {
    const engine = new FakeEngine(limits, attention);
    engine.add(1, range(30, 500), 1);
    engine.run();
    engine.add(2, [...range(30, 500), ...range(8, 2)], 1);
    engine.run();
    expect(engine.rowsOf(2)).toHaveLength(8);
  });

  test("never counts as less progress than was cached", () => {
    const engine = warm();
    engine.add(2, [...header, ...range(8, 2)], 5);
    engine.add(3, [...header, ...range(8, 50)], 5);
    while (engine.output(3).length === 0) {
      engine.step();
      const { processed, cached } = engine.scheduler.progress(3);
      expect(processed).toBeGreaterThanOrEqual(cached);
    }
  });
});

describe("beside streams", () => {
  test("prompts are computed in steps of their own, which alternate with those of the streams", () => {
    const engine = warm();
    engine.add(2, range(4, 900), 40);
    while (engine.output(2).length < 3) engine.step();
    const before = engine.plans.length;
    for (const key of [3, 4]) engine.add(key, [...header, ...range(8, 100 * key)], 3);
    while (engine.output(4).length === 0 || engine.output(3).length === 0) engine.step();
    const steps = engine.plans.slice(before);
    expect(steps.every(({ decodeRows, prefillRows }) => decodeRows === 0 || prefillRows === 0)).toBe(true);
    const prompts = steps.map(({ prefillRows }) => prefillRows > 0);
    expect(prompts.some((one, at) => one && prompts[at + 1])).toBe(false);
    engine.run();
  });

  test("a tile that takes longer than streams may wait is computed in slices", () => {
    const engine = warm(attention, { chunk: 64, stallBudgetMs: 2 });
    engine.add(2, range(4, 900), 80);
    while (engine.output(2).length < 3) engine.step();
    engine.add(3, [...header, ...range(8, 300)], 3);
    while (engine.output(3).length === 0) engine.step();
    expect(engine.slices.length).toBeGreaterThan(0);
    expect(computedFor(engine, 3).map(({ index }) => index)).toEqual(range(TILE + 1, header.length + 7 - TILE));
    engine.run();
  });

  test("a last token is computed together with the streams", () => {
    const engine = warm();
    engine.add(2, range(4, 900), 40);
    while (engine.output(2).length < 3) engine.step();
    engine.add(3, [...header, 1], 3);
    engine.step();
    expect(engine.plans.at(-1)).toMatchObject({ decodeRows: 1, prefillRows: 1 });
    engine.run();
  });
});

test("a tile is not computed beside a shorter or longer prompt of another conversation, which would divide it", () => {
  const engine = new FakeEngine(limits, attention);
  const tails = [2, 8, 3, 9, 40];
  const conversations = tails.map((_, at) => range(1000, 1_000_000 * (at + 1)));
  for (const [at, tokens] of conversations.entries()) engine.add(1 + at, tokens, 1);
  engine.run();
  const before = engine.plans.length;
  for (const [at, tail] of tails.entries())
    engine.add(10 + at, [...(conversations[at] ?? []), ...range(tail, 100 * (at + 2))], 1);
  engine.run();
  const plans = engine.plans.slice(before);
  expect(plans.some(({ together }) => together)).toBe(false);
  const lengths = plans.map(lengthsOf).filter((all) => all.includes(TILE));
  expect(lengths.flat()).toEqual([TILE, TILE]);
});

describe("prompts with a common prefix", () => {
  test("are computed together, whatever their lengths, without cached tokens", () => {
    const engine = warm();
    const before = engine.plans.length;
    for (const [at, tail] of [2, 8, 3, 9, 40].entries())
      engine.add(2 + at, [...header, ...range(tail, 100 * (at + 2))], 1);
    engine.run();
    const [step, ...others] = engine.plans.slice(before);
    expect(step).toMatchObject({ together: true, prefillRows: 62 });
    expect(others).toEqual([]);
  });

  test("fill one tile in all", () => {
    const engine = warm();
    const before = engine.plans.length;
    for (const key of [2, 3, 4]) engine.add(key, [...header, ...range(4, 100 * key)], 1);
    engine.run();
    expect(engine.plans.slice(before).map(lengthsOf)).toEqual([[4, 4, 8]]);
    expect([2, 3, 4].map((key) => engine.cached.get(key))).toEqual([1000, 1000, 1000]);
  });

  test.each([
    ["a micro-batch", { microBatch: 8 }],
    ["the free cells", { cells: header.length + 10 }],
  ])("do not fill a tile that is more than %s", (_, changes) => {
    const engine = warm(attention, changes);
    const before = engine.plans.length;
    for (const key of [2, 3]) engine.add(key, [...header, ...range(4, 100 * key)], 1);
    engine.run();
    expect(engine.plans.slice(before).map(lengthsOf)).toEqual([[4, 4]]);
  });

  test("fill no tile with a prompt of media, but with another", () => {
    const engine = warm();
    const before = engine.plans.length;
    const media = [{ start: 1006, tokens: 40, positions: 40, whole: false }];
    engine.add(2, [...header, ...range(3, 200)], 1);
    engine.add(3, [...header, ...range(4, 300)], 1);
    engine.add(4, [...header, ...range(60, 400)], 1, "", { media });
    engine.run();
    expect(engine.plans.slice(before).map(lengthsOf)[0]).toEqual([3, 7, 6]);
  });

  test("are computed together as far as one region has room", () => {
    const engine = warm(attention, { region: header.length + 2 * 50 + 2 * TILE });
    const before = engine.plans.length;
    for (const key of range(4, 2)) engine.add(key, [...header, ...range(20, 100 * key)], 1);
    engine.run();
    expect(engine.plans.slice(before).map(lengthsOf)).toEqual([
      [20, 20],
      [20, 20],
    ]);
  });

  test("are computed together although an unrelated prompt is first", () => {
    const engine = warm();
    const before = engine.plans.length;
    engine.add(2, 3, 1);
    for (const key of [3, 4]) engine.add(key, [...header, ...range(20, 100 * key)], 1);
    engine.run();
    const steps = engine.plans.slice(before);
    expect(steps.map(lengthsOf)).toEqual([[3], [20, 20]]);
    expect(steps.map(({ together }) => together)).toEqual([false, true]);
  });

  test("are computed apart where more of one is to be copied than a step computes of it", () => {
    const engine = warm();
    const own = [...header, ...range(100, 2000)];
    engine.add(2, own, 1);
    engine.run();
    const before = engine.plans.length;
    const media = [{ start: 1120, tokens: 200, positions: 200, whole: false }];
    engine.add(3, [...own, ...range(225, 3000)], 1, "", { media });
    engine.add(4, [...header, ...range(30, 4000)], 1);
    engine.run();
    expect(engine.plans.slice(before).some(({ together }) => together)).toBe(false);
    expect([3, 4].map((key) => engine.cached.get(key))).toEqual([1100, 1000]);
  });

  test("are computed together as far as a micro-batch reaches, and whole", () => {
    const engine = warm(attention, { batch: 256 });
    const before = engine.plans.length;
    for (const key of range(5, 2)) engine.add(key, [...header, ...range(50, 100 * key)], 1);
    engine.run();
    expect(engine.plans.slice(before).map(lengthsOf)).toEqual([[50, 50], [50, 50], [50]]);
  });
});

test("prompts without a common prefix are computed apart, in one step", () => {
  const engine = new FakeEngine(limits, attention);
  for (const [at, length] of [20, 30, 40].entries()) engine.add(at + 1, length, 1);
  engine.run();
  expect(engine.plans.map(({ together }) => together)).toEqual([false]);
  expect(engine.plans.map(lengthsOf)).toEqual([[20, 30, 40]]);
});

test("streams and prompts of several adapter sets all get on", () => {
  const engine = warm();
  const sets = [[{ id: 0, scale: 1 }], [{ id: 1, scale: 1 }]];
  for (const [at, adapters] of sets.entries()) engine.add(2 + at, range(4, 900), 200, "", { adapters });
  while (engine.output(2).length < 3 || engine.output(3).length < 3) engine.step();
  for (const [at, adapters] of sets.entries()) {
    for (const key of [4, 5]) engine.add(2 * key + at, range(3000, 10_000 * key + at * 5000), 2, "", { adapters });
  }
  const said = () => [2, 3].map((key) => engine.output(key).length);
  const before = said();
  for (let step = 0; step < 24; step++) engine.step();
  for (const [at, count] of said().entries()) expect(count - (before[at] ?? 0)).toBeGreaterThan(4);
  engine.run();
});

test("any requests get the same answers as without tiles", () => {
  const random = new Random(3);
  const computed = [0, 0];
  for (let round = 0; round < 10; round++) {
    const chunk = random.integer(0, 1) * 64;
    // Few cells make requests wait, and be preempted.
    const cells = random.integer(0, 1) === 0 ? 1200 : limits.cells;
    const seed = random.integer(1, 1_000_000);
    const answers = [0, TILE].map((tile, at) => {
      const dice = new Random(seed);
      const engine = new FakeEngine({ ...limits, tile, chunk, cells, stallBudgetMs: 40 }, attention);
      engine.add(1, [...header, 1], 2);
      engine.run();
      for (let key = 2; key < 20; key++) {
        const tail = range(dice.integer(1, 60), key * 1000);
        engine.add(key, [...header.slice(0, dice.integer(1, 1000)), ...tail], dice.integer(1, 20));
        for (let step = dice.integer(0, 6); step > 0; step--) engine.step();
      }
      engine.run();
      computed[at] = (computed[at] ?? 0) + engine.prefilled;
      return range(18, 2).map((key) => engine.output(key));
    });
    expect(answers[1]).toEqual(answers[0] ?? []);
  }
  expect(computed[1]).toBeGreaterThan(computed[0] ?? 0);
});
