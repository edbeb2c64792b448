import { describe, expect, test } from "bun:test";
import { HostEntries } from "../../../src/scheduler/kv/host-entries.ts";
import type { SchedulerLimits } from "../../../src/scheduler/limits.ts";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

const tokens = (length: number, from: number) => Int32Array.from({ length }, (_, at) => from + at);
const text = (length: number, from: number, adapterKey = "") => ({ ids: tokens(length, from), adapterKey, media: [] });
const withHost = { ...LIMITS, cells: 1000, hostBytes: 5000, offloadTokenMs: 0.001 };

describe("an entry of the host cache", () => {
  test("is found by its prefix", () => {
    const entries = new HostEntries(1000, 1);
    for (const each of [text(300, 1), text(400, 1000)]) entries.complete(entries.add(each, 0)?.id ?? 0);
    const asked = { ids: Int32Array.from([...tokens(250, 1), ...tokens(50, 9000)]), adapterKey: "" };
    expect(entries.find(asked, 300, false)?.length).toBe(250);
    expect(entries.find(asked, 300, true)).toBeUndefined();
    expect(entries.find(text(350, 1), 349, true)?.length).toBe(300);
  });

  test("is found only for the adapters that computed it", () => {
    const entries = new HostEntries(1000, 1);
    entries.complete(entries.add(text(300, 1, "0:1"), 0)?.id ?? 0);
    for (const other of ["", "0:0.5", "1:1"]) {
      expect(entries.find(text(300, 1, other), 300, false)).toBeUndefined();
      expect(entries.wants(text(300, 1, other))).toBe(true);
    }
    expect(entries.add(text(400, 1), 0)).toMatchObject({ replaced: [], evicted: [] });
    expect(entries.find(text(300, 1, "0:1"), 300, false)?.length).toBe(300);
  });

  test("is evicted when the cache is full: the oldest first, and never a pinned one", () => {
    const entries = new HostEntries(1000, 1);
    const first = entries.add(text(400, 1), 0)?.id ?? 0;
    const second = entries.add(text(400, 1000), 5_000)?.id ?? 0;
    const added = entries.add(text(400, 2000), 10_000, [first]);
    expect(added?.evicted.map(({ id }) => id)).toEqual([second]);
    expect(entries.add(text(900, 3000), 10_000, [first])).toBeUndefined();
    expect(entries.tokens).toBe(800);
  });

  test("is replaced by a longer one with the same prefix", () => {
    const entries = new HostEntries(1000, 1);
    const short = entries.add(text(300, 1), 0)?.id ?? 0;
    expect(entries.add(text(400, 1), 0)?.replaced.map(({ id }) => id)).toEqual([short]);
    expect(entries.wants(text(200, 1))).toBe(true);
    entries.complete(2);
    expect(entries.tokens).toBe(400);
    expect(entries.wants(text(200, 1))).toBe(false);
  });

  test("is kept for a conversation although a line of a batch continued that", () => {
    const passing = true;
    const line = { ...text(400, 1), passing };
    const entries = new HostEntries(1000, 1);
    entries.complete(entries.add(line, 0)?.id ?? 0);
    expect(entries.wants(line)).toBe(false);
    expect(entries.wants(text(300, 1))).toBe(true);
    const user = entries.add(text(300, 1), 0)?.id ?? 0;
    const last = entries.add(line, 0);
    expect(last?.replaced.length).toBe(1);
    const other = entries.add({ ...text(300, 5000), passing }, 5000)?.id ?? 0;
    expect(entries.add(text(500, 2000), 10_000)?.evicted.map(({ id }) => id)).toEqual([last?.id ?? 0, other]);
    expect(entries.get(user)).toBeDefined();
  });

  test("is not wanted again when a shorter one of a batch line has the same prefix", () => {
    const entries = new HostEntries(1000, 1);
    const line = { ids: Int32Array.from([...tokens(300, 1), 5]), adapterKey: "", media: [], passing: true };
    for (const each of [text(400, 1), line]) entries.complete(entries.add(each, 0)?.id ?? 0);
    expect(entries.wants(text(300, 1))).toBe(false);
  });

  test("that a batch line left is replaced by the same one of a user, even when sequences cannot be trimmed", () => {
    const entries = new HostEntries(1000, 1, false);
    for (const each of [{ ...text(300, 1), passing: true }, text(300, 1)]) {
      expect(entries.wants(each)).toBe(true);
      entries.complete(entries.add(each, 0)?.id ?? 0);
    }
    expect(entries.wants(text(300, 1))).toBe(false);
    expect(entries.tokens).toBe(300);
  });
});

test("when sequences cannot be trimmed, a prefix is kept next to a longer entry", () => {
  const entries = new HostEntries(1000, 1, false);
  entries.complete(entries.add(text(400, 1), 0)?.id ?? 0);
  expect(entries.wants(text(300, 1))).toBe(true);
  for (const each of [text(300, 1), text(450, 1)]) entries.complete(entries.add(each, 0)?.id ?? 0);
  expect(entries.find(text(350, 1), 349, true)?.length).toBe(300);
});

describe("the size of an entry", () => {
  test("is measured when it is written, and others are evicted when it is larger than expected", () => {
    const entries = new HostEntries(1000, 1);
    const [first, second] = [text(300, 1), text(300, 1000)].map((each, at) => entries.add(each, 5000 * at)?.id ?? 0);
    for (const id of [first, second]) entries.complete(id ?? 0);
    expect(entries.wrote(first ?? 0, 450, 10_000)).toEqual([]);
    expect(entries.wrote(second ?? 0, 650, 10_000).map(({ id }) => id)).toEqual([first ?? 0]);
    expect(entries.tokens).toBe(300);
    // The next entry is also expected to have 350 bytes in addition to its tokens.
    expect(entries.wants(text(660, 2000))).toBe(false);
    expect(entries.wants(text(640, 2000))).toBe(true);
  });

  test("is at least the size of its parts while they are being written", () => {
    const entries = new HostEntries(1000, 1);
    const id = entries.add(text(300, 1), 0)?.id ?? 0;
    const other = entries.add(text(500, 1000), 0)?.id ?? 0;
    expect(entries.wrote(id, 250, 0, [id])).toEqual([]);
    expect(entries.wrote(id, 250, 0, [id])).toEqual([]);
    expect(entries.wrote(id, 250, 0, [id]).map((gone) => gone.id)).toEqual([other]);
  });

  test("is limited even when tokens take no bytes and states take many", () => {
    for (const hostBytes of [1600, 3000]) {
      const limits = { ...withHost, layout: "streams", cells: 1400, sequences: 2, parallel: 2 } as const;
      const engine = new FakeEngine({ ...limits, canTrim: false, tokenBytes: 0, hostBytes });
      engine.stateBytes = 700;
      let most = 0;
      for (let key = 1; key <= 12; key++) {
        engine.now += 1000;
        engine.add(key, 400, 5);
        engine.run();
        most = Math.max(most, engine.hostEntries.size);
      }
      expect(most).toBe(Math.floor(hostBytes / 700));
      engine.now += 1000;
      engine.add(20, [...(engine.jobs.get(9)?.tokens ?? []), 5], 5);
      engine.run();
      expect(engine.cached.get(20)).toBe(404);
    }
  });

  test("may exceed the cache: such an entry is evicted, and no other is offloaded", () => {
    const engine = new FakeEngine({ ...withHost, tokenBytes: 0, hostBytes: 500 });
    engine.stateBytes = 700;
    for (let key = 1; key <= 6; key++) {
      engine.add(key, 600, 5);
      engine.run();
    }
    expect([engine.scheduler.kv.host.tokens, engine.hostEntries.size]).toEqual([0, 0]);
    expect(engine.offloadSizes.length).toBe(2);
  });
});

describe.each([
  ["unified", withHost],
  ["streams", { ...withHost, layout: "streams", cells: 1400, sequences: 2, parallel: 2 }],
  ["paged", { ...withHost, layout: "paged" }],
] as const)("%s: a conversation that was evicted from the KV cache", (_, limits) => {
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

  test.each([
    ["finished", 0],
    ["preempted", 1],
  ])("is restored although lines of a batch continued it, the first of which is %s", (fate, kept) => {
    const engine = new FakeEngine({ ...limits, parallel: 1 });
    engine.add(1, 600, 20);
    engine.run();
    const { tokens = [] } = engine.jobs.get(1) ?? {};
    for (const key of [10, 11, 12]) engine.add(key, [...tokens, key, 1, 2], 20, "batch", { background: true });
    while (engine.output(10).length < 3) engine.step();
    if (fate === "finished") engine.run();
    for (const key of [2, 3, 4]) {
      engine.now += 1000;
      engine.add(key, 650, 5);
    }
    engine.run();
    engine.add(5, [...tokens, 5, 6, 7], 5);
    engine.run();
    expect(engine.cached.get(5)).toBeGreaterThanOrEqual(619);
    const lines = [...engine.hostEntries.values()].filter((entry) => [10, 11, 12].includes(entry[620]?.token ?? 0));
    expect(lines.length).toBeLessThanOrEqual(kept);
  });

  test("is restored from host memory", () => {
    const engine = new FakeEngine(limits);
    conversation(engine);
    expect(engine.cached.get(4)).toBe(619);
    expect(engine.scheduler.kv.host.restored).toBe(619);
    expect(engine.output(4).length).toBe(5);
  });

  test("is computed again when the host cache is too small", () => {
    const engine = new FakeEngine({ ...limits, hostBytes: 100 });
    conversation(engine);
    expect(engine.scheduler.kv.host.restored).toBe(0);
    expect(engine.output(4).length).toBe(5);
  });

  test("is computed again when it cannot be restored", () => {
    const engine = new FakeEngine(limits);
    engine.failsRestores = true;
    conversation(engine);
    expect(engine.cached.get(4)).toBe(0);
    expect(engine.output(4).length).toBe(5);
  });
});

test.each([
  ["no other sequence id is left", { parallel: 1, sequences: 1 }],
  ["its state cannot be copied", { canTrim: false }],
])("a conversation that a line of a batch continues stays cached for its user when %s", (_case, more) => {
  const engine = new FakeEngine({ ...withHost, ...more });
  engine.add(1, 600, 20, "chat");
  engine.run();
  const { tokens = [] } = engine.jobs.get(1) ?? {};
  engine.add(2, [...tokens, 1, 2, 3], 20, "batch", { background: true });
  engine.run();
  expect(engine.cached.get(2)).toBe(619);
  engine.add(3, 10, 5, "chat");
  engine.run();
  engine.add(4, [...tokens, 5, 6, 7], 5, "chat");
  engine.run();
  expect(engine.cached.get(4)).toBe(619);
});

test("no stream waits while a large sequence is offloaded", () => {
  const engine = new FakeEngine({ ...withHost, offloadTokenMs: 1, stallBudgetMs: 50 });
  engine.add(1, 600, 2);
  engine.run();
  engine.add(2, 10, 300);
  while (engine.output(2).length < 2) engine.step();
  engine.add(3, 500, 2);
  engine.run();
  expect(engine.hostEntries.size).toBe(0);
});

test("idle cells that slow down a stream are offloaded, one part in each step, and can be restored", () => {
  // Every cell in use adds a hundredth of a millisecond to each row.
  const cost = (rows: number, prompt: number, _: number, held: number) => 5 + rows * (1 + held / 100) + prompt * 0.2;
  const engine = new FakeEngine({ ...withHost, cells: 8000, hostBytes: 20_000, offloadTokenMs: 0.05 }, cost);
  for (let key = 1; key <= 6; key++) {
    engine.add(key, 1000, 60);
    engine.run();
  }
  engine.add(7, 20, 400);
  engine.run();
  expect(engine.scheduler.kv.host.tokens).toBeGreaterThan(2000);
  expect(engine.scheduler.kv.idleCells).toBeLessThan(4000);
  expect(Math.max(...engine.offloadSizes)).toBeLessThanOrEqual(1000);
  engine.add(8, [...(engine.jobs.get(1)?.tokens ?? []), 5], 5);
  engine.run();
  expect(engine.cached.get(8)).toBe(1059);
});

describe("idle cells that slow down long prompts", () => {
  // A row reads its own cells, and skips each other cell at a fifth of the cost.
  const cost = (rows: number, prompt: number, own: number, held: number) =>
    2 + rows + prompt * (0.5 + own / 4000 + (held - own) / 20_000);
  const filled = (more: Partial<SchedulerLimits> = {}) => {
    const limits = { ...withHost, parallel: 2, cells: 16_000, hostBytes: 50_000, offloadTokenMs: 0.01, ...more };
    const engine = new FakeEngine(limits, cost);
    for (let key = 1; key <= 6; key++) {
      engine.add(key, 2000, 2);
      engine.run();
    }
    return engine;
  };

  test("are offloaded before the prompt is computed, and can be restored", () => {
    const engine = filled();
    const before = engine.now;
    engine.add(7, 3000, 2);
    engine.run();
    const alone = new FakeEngine({ ...withHost, cells: 16_000 }, cost);
    alone.add(7, 3000, 2);
    alone.run();
    expect((engine.now - before) / alone.now).toBeLessThan(1.2);
    expect(engine.scheduler.kv.host.tokens).toBeGreaterThan(5000);
    engine.add(8, [...(engine.jobs.get(1)?.tokens ?? []), 5], 2);
    engine.run();
    expect(engine.cached.get(8)).toBe(2001);
  });

  test("stay when the host cache is smaller than the KV cache, where they would evict each other", () => {
    const engine = filled({ hostBytes: 5000 });
    for (let key = 1; key <= 6; key++) {
      engine.add(10 + key, [...(engine.jobs.get(key)?.tokens ?? []), 5], 2);
      engine.run();
    }
    expect([1, 2, 3, 4, 5, 6].map((key) => engine.cached.get(10 + key))).toEqual(Array(6).fill(2001));
  });

  test("are evicted before a very long prompt if they are too short to be offloaded, but not before other prompts", () => {
    const engine = new FakeEngine(
      { ...withHost, cells: 16_000, hostBytes: 50_000, offloadTokenMs: 0.01, parallel: 2 },
      cost,
    );
    for (let key = 1; key <= 12; key++) {
      engine.add(key, 200, 2);
      engine.run();
    }
    engine.add(20, 800, 2);
    engine.run();
    expect(engine.scheduler.kv.evictedTokens).toBe(0);
    engine.add(21, 12_000, 2);
    engine.run();
    expect(engine.scheduler.kv.evictedTokens).toBeGreaterThan(1000);
    expect(engine.scheduler.kv.idleCells).toBeGreaterThan(1000);
  });

  test("stay for a short prompt", () => {
    const engine = filled();
    const { offloaded } = engine.scheduler.kv.host;
    engine.add(7, 100, 2);
    engine.run();
    expect(engine.scheduler.kv.host.offloaded).toBe(offloaded);
  });
});

test("idle cells stay when cells in use cost nothing", () => {
  const engine = new FakeEngine(
    { ...withHost, cells: 8000, hostBytes: 20_000, offloadTokenMs: 0.05 },
    (rows, prompt) => 5 + rows + prompt * 0.2,
  );
  for (let key = 1; key <= 6; key++) {
    engine.add(key, 1000, 60);
    engine.run();
  }
  expect(engine.scheduler.kv.host.tokens).toBe(0);
});
