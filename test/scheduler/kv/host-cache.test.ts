import { describe, expect, test } from "bun:test";
import { SavedPrefixes } from "../../../src/scheduler/kv/host-entries.ts";
import type { SchedulerLimits } from "../../../src/scheduler/scheduler.ts";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

const tokens = (length: number, from: number) => Int32Array.from({ length }, (_, at) => from + at);
const text = (length: number, from: number, adapterKey = "") => ({ ids: tokens(length, from), adapterKey, media: [] });
const saving = { ...LIMITS, cells: 1000, savedBytes: 5000, saveTokenMs: 0.001 };

describe("what is saved", () => {
  test("is found by its beginning", () => {
    const saved = new SavedPrefixes(1000, 1);
    for (const each of [text(300, 1), text(400, 1000)]) saved.complete(saved.add(each, 0)?.id ?? 0);
    const asked = { ids: Int32Array.from([...tokens(250, 1), ...tokens(50, 9000)]), adapterKey: "" };
    expect(saved.find(asked, 300, false)?.length).toBe(250);
    expect(saved.find(asked, 300, true)).toBeUndefined();
    expect(saved.find(text(350, 1), 349, true)?.length).toBe(300);
  });

  test("is found only for the adapters that computed it", () => {
    const saved = new SavedPrefixes(1000, 1);
    saved.complete(saved.add(text(300, 1, "0:1"), 0)?.id ?? 0);
    for (const other of ["", "0:0.5", "1:1"]) {
      expect(saved.find(text(300, 1, other), 300, false)).toBeUndefined();
      expect(saved.wants(text(300, 1, other))).toBe(true);
    }
    expect(saved.add(text(400, 1), 0)?.dropped).toEqual([]);
    expect(saved.find(text(300, 1, "0:1"), 300, false)?.length).toBe(300);
  });

  test("leaves when there is no room: the oldest first, and never what is in use", () => {
    const saved = new SavedPrefixes(1000, 1);
    const first = saved.add(text(400, 1), 0)?.id ?? 0;
    const second = saved.add(text(400, 1000), 5_000)?.id ?? 0;
    const added = saved.add(text(400, 2000), 10_000, [first]);
    expect(added?.dropped.map(({ id }) => id)).toEqual([second]);
    expect(saved.add(text(900, 3000), 10_000, [first])).toBeUndefined();
    expect(saved.tokens).toBe(800);
  });

  test("is replaced by what begins with it", () => {
    const saved = new SavedPrefixes(1000, 1);
    const short = saved.add(text(300, 1), 0)?.id ?? 0;
    expect(saved.add(text(400, 1), 0)?.dropped.map(({ id }) => id)).toEqual([short]);
    expect(saved.wants(text(200, 1))).toBe(true);
    saved.complete(2);
    expect(saved.tokens).toBe(400);
    expect(saved.wants(text(200, 1))).toBe(false);
  });
});

test("where sequences cannot be cut, a beginning stays beside what begins with it", () => {
  const saved = new SavedPrefixes(1000, 1, false);
  saved.complete(saved.add(text(400, 1), 0)?.id ?? 0);
  expect(saved.wants(text(300, 1))).toBe(true);
  for (const each of [text(300, 1), text(450, 1)]) saved.complete(saved.add(each, 0)?.id ?? 0);
  expect(saved.find(text(350, 1), 349, true)?.length).toBe(300);
});

describe("what it takes", () => {
  test("is told when it is there, and others leave when it is more than was expected", () => {
    const saved = new SavedPrefixes(1000, 1);
    const [first, second] = [text(300, 1), text(300, 1000)].map((each, at) => saved.add(each, 5000 * at)?.id ?? 0);
    for (const id of [first, second]) saved.complete(id ?? 0);
    expect(saved.wrote(first ?? 0, 450, 10_000)).toEqual([]);
    expect(saved.wrote(second ?? 0, 650, 10_000).map(({ id }) => id)).toEqual([first ?? 0]);
    expect(saved.tokens).toBe(300);
    // The next one is expected to have 350 bytes beside its tokens, too.
    expect(saved.wants(text(660, 2000))).toBe(false);
    expect(saved.wants(text(640, 2000))).toBe(true);
  });

  test("is at least what its parts take, until all of them are there", () => {
    const saved = new SavedPrefixes(1000, 1);
    const id = saved.add(text(300, 1), 0)?.id ?? 0;
    const other = saved.add(text(500, 1000), 0)?.id ?? 0;
    expect(saved.wrote(id, 250, 0, [id])).toEqual([]);
    expect(saved.wrote(id, 250, 0, [id])).toEqual([]);
    expect(saved.wrote(id, 250, 0, [id]).map((gone) => gone.id)).toEqual([other]);
  });

  test("is bounded where tokens take nothing, and states much", () => {
    for (const savedBytes of [1600, 3000]) {
      const limits = { ...saving, layout: "streams", cells: 1400, sequences: 2, parallel: 2 } as const;
      const engine = new FakeEngine({ ...limits, cut: false, tokenBytes: 0, savedBytes });
      engine.stateBytes = 700;
      let most = 0;
      for (let key = 1; key <= 12; key++) {
        engine.now += 1000;
        engine.add(key, 400, 5);
        engine.run();
        most = Math.max(most, engine.saved.size);
      }
      expect(most).toBe(Math.floor(savedBytes / 700));
      engine.now += 1000;
      engine.add(20, [...(engine.jobs.get(9)?.tokens ?? []), 5], 5);
      engine.run();
      expect(engine.cached.get(20)).toBe(404);
    }
  });

  test("alone is more than there is room for: it goes, and no other one comes", () => {
    const engine = new FakeEngine({ ...saving, tokenBytes: 0, savedBytes: 500 });
    engine.stateBytes = 700;
    for (let key = 1; key <= 6; key++) {
      engine.add(key, 600, 5);
      engine.run();
    }
    expect([engine.scheduler.spill.tokens, engine.saved.size]).toEqual([0, 0]);
    expect(engine.saveSizes.length).toBe(2);
  });
});

describe.each([
  ["unified", saving],
  ["streams", { ...saving, layout: "streams", cells: 1400, sequences: 2, parallel: 2 }],
] as const)("%s: a conversation that had to leave the cache", (_, limits) => {
  const conversation = (engine: FakeEngine) => {
    engine.add(1, 600, 20);
    engine.run();
    for (const key of [2, 3]) {
      engine.now += 1000;
      engine.add(key, 500, 5);
      engine.run();
    }
    engine.now += 1000;
    engine.add(4, [...(engine.jobs.get(1)?.tokens ?? []), 5, 6, 7], 5);
    engine.run();
  };

  test("comes back from host memory", () => {
    const engine = new FakeEngine(limits);
    conversation(engine);
    expect(engine.cached.get(4)).toBe(619);
    expect(engine.scheduler.spill.restored).toBe(619);
    expect(engine.output(4).length).toBe(5);
  });

  test("is computed again where host memory has no room", () => {
    const engine = new FakeEngine({ ...limits, savedBytes: 100 });
    conversation(engine);
    expect(engine.scheduler.spill.restored).toBe(0);
    expect(engine.output(4).length).toBe(5);
  });

  test("is computed again when it is lost", () => {
    const engine = new FakeEngine(limits);
    engine.losesSaved = true;
    conversation(engine);
    expect(engine.cached.get(4)).toBe(0);
    expect(engine.output(4).length).toBe(5);
  });
});

test("nobody's stream waits for a large sequence to be saved", () => {
  const engine = new FakeEngine({ ...saving, saveTokenMs: 1, stallBudgetMs: 50 });
  engine.add(1, 600, 2);
  engine.run();
  engine.add(2, 10, 300);
  while (engine.output(2).length < 2) engine.step();
  engine.add(3, 500, 2);
  engine.run();
  expect(engine.saved.size).toBe(0);
});

test("idle cells that slow down a stream move to host memory, a part in each step, and come back", () => {
  // Every cell in use costs each row a hundredth of a millisecond.
  const cost = (rows: number, prompt: number, _: number, held: number) => 5 + rows * (1 + held / 100) + prompt * 0.2;
  const engine = new FakeEngine({ ...saving, cells: 8000, savedBytes: 20_000, saveTokenMs: 0.05 }, cost);
  for (let key = 1; key <= 6; key++) {
    engine.add(key, 1000, 60);
    engine.run();
  }
  engine.add(7, 20, 400);
  engine.run();
  expect(engine.scheduler.spill.tokens).toBeGreaterThan(2000);
  expect(engine.scheduler.cellsCached).toBeLessThan(4000);
  expect(Math.max(...engine.saveSizes)).toBeLessThanOrEqual(1000);
  engine.add(8, [...(engine.jobs.get(1)?.tokens ?? []), 5], 5);
  engine.run();
  expect(engine.cached.get(8)).toBe(1059);
});

describe("idle cells that slow down long prompts", () => {
  // A row looks at its own cells, and passes over others' for a fifth of the price.
  const cost = (rows: number, prompt: number, own: number, held: number) =>
    2 + rows + prompt * (0.5 + own / 4000 + (held - own) / 20_000);
  const filled = (more: Partial<SchedulerLimits> = {}) => {
    const limits = { ...saving, parallel: 2, cells: 16_000, savedBytes: 50_000, saveTokenMs: 0.01, ...more };
    const engine = new FakeEngine(limits, cost);
    for (let key = 1; key <= 6; key++) {
      engine.add(key, 2000, 2);
      engine.run();
    }
    return engine;
  };

  test("move to host memory before the prompt is computed, and come back", () => {
    const engine = filled();
    const before = engine.now;
    engine.add(7, 3000, 2);
    engine.run();
    const alone = new FakeEngine({ ...saving, cells: 16_000 }, cost);
    alone.add(7, 3000, 2);
    alone.run();
    expect((engine.now - before) / alone.now).toBeLessThan(1.2);
    expect(engine.scheduler.spill.tokens).toBeGreaterThan(5000);
    engine.add(8, [...(engine.jobs.get(1)?.tokens ?? []), 5], 2);
    engine.run();
    expect(engine.cached.get(8)).toBe(2001);
  });

  test("stay where host memory has less room than the cache, and they would push each other out", () => {
    const engine = filled({ savedBytes: 5000 });
    for (let key = 1; key <= 6; key++) {
      engine.add(10 + key, [...(engine.jobs.get(key)?.tokens ?? []), 5], 2);
      engine.run();
    }
    expect([1, 2, 3, 4, 5, 6].map((key) => engine.cached.get(10 + key))).toEqual(Array(6).fill(2001));
  });

  test("are given up before a very long prompt where they are too short to be moved, and not before others", () => {
    const engine = new FakeEngine(
      { ...saving, cells: 16_000, savedBytes: 50_000, saveTokenMs: 0.01, parallel: 2 },
      cost,
    );
    for (let key = 1; key <= 12; key++) {
      engine.add(key, 200, 2);
      engine.run();
    }
    engine.add(20, 800, 2);
    engine.run();
    expect(engine.scheduler.evictedTokens).toBe(0);
    engine.add(21, 12_000, 2);
    engine.run();
    expect(engine.scheduler.evictedTokens).toBeGreaterThan(1000);
    expect(engine.scheduler.cellsCached).toBeGreaterThan(1000);
  });

  test("stay for a short prompt", () => {
    const engine = filled();
    const { moved } = engine.scheduler.spill;
    engine.add(7, 100, 2);
    engine.run();
    expect(engine.scheduler.spill.moved).toBe(moved);
  });
});

test("where every cell costs nothing, idle ones stay", () => {
  const engine = new FakeEngine(
    { ...saving, cells: 8000, savedBytes: 20_000, saveTokenMs: 0.05 },
    (rows, prompt) => 5 + rows + prompt * 0.2,
  );
  for (let key = 1; key <= 6; key++) {
    engine.add(key, 1000, 60);
    engine.run();
  }
  expect(engine.scheduler.spill.tokens).toBe(0);
});
