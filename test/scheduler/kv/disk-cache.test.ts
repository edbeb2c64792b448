import { describe, expect, test } from "bun:test";
import type { AdapterSet } from "../../../src/domain/adapters.ts";
import { Random } from "../../support/random.ts";
import { FakeDisk } from "../fake-disk.ts";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

const ids = (length: number, from: number) => Int32Array.from({ length }, (_, at) => from + at);
const withDisk = { ...LIMITS, cells: 1000, hostBytes: 2000, offloadTokenMs: 0.001, hasDisk: true, readTokenMs: 0.002 };

describe.each([
  ["unified", withDisk],
  ["streams", { ...withDisk, layout: "streams", cells: 2000, sequences: 2, parallel: 2 }],
  ["paged", { ...withDisk, layout: "paged" }],
  ["whole conversations only", { ...withDisk, canTrim: false }],
] as const)("%s: a conversation", (_, limits) => {
  const first = (disk: FakeDisk, then: (engine: FakeEngine) => void) => {
    const engine = new FakeEngine(limits, undefined, disk);
    engine.add(1, 600, 20);
    engine.run();
    then(engine);
    return [...(engine.jobs.get(1)?.tokens ?? []), 5, 6, 7];
  };
  const goOn = (disk: FakeDisk, prompt: number[]) => {
    const engine = new FakeEngine(limits, undefined, disk);
    engine.add(9, prompt, 5);
    engine.run();
    expect(engine.output(9).length).toBe(5);
    return engine.cached.get(9);
  };

  test("is restored after an orderly restart", () => {
    const disk = new FakeDisk();
    const prompt = first(disk, (engine) => engine.end());
    expect(goOn(disk, prompt)).toBe(619);
  });

  test("is restored after a crash if it had left host memory, and computed again otherwise", () => {
    const disk = new FakeDisk();
    let engine: FakeEngine | undefined;
    const prompt = first(disk, (running) => (engine = running));
    expect(goOn(disk, prompt)).toBe(0);
    // Other conversations evict it from the KV cache, then from host memory.
    for (let key = 2; key < 9; key++) {
      if (!engine) throw new Error("no engine");
      engine.now += 1000;
      engine.add(key, 700, 5);
      engine.run();
    }
    expect(disk.writes).toBeGreaterThan(0);
    expect(goOn(disk, prompt)).toBe(619);
  });

  test("stays cached beside the lines of a batch, which are neither offloaded nor written", () => {
    const disk = new FakeDisk();
    const engine = new FakeEngine(limits, undefined, disk);
    engine.add(1, 600, 20, "chat");
    engine.run();
    engine.now += 10_000;
    for (let key = 10; key < 20; key++) engine.add(key, 300, 5, "batch", { background: true });
    engine.run();
    for (const [first] of engine.hostEntries.values()) expect(first?.token).toBe(10_000);
    const { tokens = [] } = engine.jobs.get(1) ?? {};
    engine.add(2, [...tokens, 5, 6, 7], 5, "chat");
    engine.run();
    expect(engine.cached.get(2)).toBe(619);
    engine.end();
    expect([...disk.files.values()].map((file) => file.ids.subarray(0, 620))).toContainEqual(Int32Array.from(tokens));
    for (const { ids: written } of disk.files.values()) expect(written[0]).toBe(tokens[0]);
  });

  test.each([
    ["resume and end", false],
    ["are cancelled", true],
  ])("is not pushed out by lines of a batch that are preempted and %s", (_fate, cancels) => {
    const disk = new FakeDisk();
    const engine = new FakeEngine({ ...limits, parallel: 2 }, undefined, disk);
    const lines = new Set<number | undefined>();
    for (let key = 10; key < 70; key += 10) {
      engine.now += 10_000;
      for (const line of [key, key + 1]) {
        engine.add(line, 450, 20, "batch", { background: true });
        lines.add(engine.jobs.get(line)?.tokens[0]);
      }
      while (engine.output(key).length < 3) engine.step();
      for (const chat of [key + 2, key + 3]) engine.add(chat, 450, 5, "chat");
      while (engine.output(key + 3).length < 5) engine.step();
      if (cancels) for (const line of [key, key + 1]) engine.disconnect(line);
      engine.run();
    }
    expect(engine.scheduler.preemptions).toBeGreaterThan(0);
    engine.add(70, 450, 5, "chat");
    engine.run();
    engine.end();
    for (const file of disk.files.values()) expect(lines).not.toContain(file.ids[0]);
    expect(disk.files.size).toBe(13);
  });

  test("is written without what preempted lines of a batch added to it", () => {
    const disk = new FakeDisk();
    const engine = new FakeEngine({ ...limits, parallel: 2 }, undefined, disk);
    engine.add(1, 450, 5, "chat");
    engine.run();
    const { tokens = [] } = engine.jobs.get(1) ?? {};
    for (let line = 10; line < 70; line += 10) {
      engine.now += 10_000;
      engine.add(line, [...tokens, ...ids(400, line * 10_000)], 20, "batch", { background: true });
      while (engine.output(line).length < 3) engine.step();
      for (const chat of [line + 2, line + 3]) engine.add(chat, 450, 5, "chat");
      engine.run();
    }
    expect(engine.scheduler.preemptions).toBe(6);
    engine.end();
    expect([...disk.files.values()].map((file) => file.ids.length)).toEqual(Array.from({ length: 13 }, () => 454));
  });

  test("is written with the time when it was last used, whatever evicts it and when", () => {
    const disk = new FakeDisk();
    const engine = new FakeEngine({ ...limits, hostBytes: 3000 }, undefined, disk);
    const ended: number[] = [];
    engine.onFinish = () => void ended.push(engine.now);
    for (let key = 1; key <= 3; key++) {
      engine.add(key, 600, 20);
      engine.run();
      engine.now += 1000;
    }
    engine.end();
    expect(disk.usedAt).toEqual(ended.toReversed());
  });

  test("is computed again when its file is damaged, and the file is deleted", () => {
    const disk = new FakeDisk();
    const prompt = first(disk, (engine) => engine.end());
    disk.isDamaged = () => true;
    expect(goOn(disk, prompt)).toBe(0);
    expect(disk.files.size).toBe(0);
  });

  test("that the model cannot restore is not tried twice", () => {
    const disk = new FakeDisk();
    const prompt = first(disk, (engine) => engine.end());
    const engine = new FakeEngine(limits, undefined, disk);
    engine.failsRestores = true;
    engine.add(9, prompt, 5);
    engine.run();
    expect([engine.cached.get(9), disk.files.size, engine.scheduler.kv.host.tokens]).toEqual([0, 0, 0]);
  });

  test("that is already on disk is not written again", () => {
    const disk = new FakeDisk();
    const prompt = first(disk, (engine) => engine.end());
    const engine = new FakeEngine(limits, undefined, disk);
    engine.add(9, prompt, 5);
    engine.run();
    engine.end();
    expect(disk.writes).toBe(1);
  });
});

test("no tokens serve other adapters than those that computed them, even when the adapters' numbers change", () => {
  const disk = new FakeDisk();
  const prompt = [...ids(600, 1)];
  const whole = (id: number) => [{ id, scale: 1 }];
  const run = (files: readonly string[], asks: readonly AdapterSet[]) => {
    const engine = new FakeEngine({ ...withDisk, cells: 4000, hostBytes: 8000 }, undefined, disk, files);
    asks.forEach((set, key) => engine.add(key, prompt, 5, "", { adapters: set }));
    engine.run();
    engine.end();
    return asks.map((_, key) => engine.cached.get(key));
  };
  const half = [{ id: 0, scale: 0.5 }];
  const both = [...whole(0), ...whole(1)];
  expect(run(["a", "b"], [[], whole(0), both])).toEqual([0, 0, 0]);
  expect(disk.files.size).toBe(3);
  expect(run(["b", "a"], [[], whole(0), whole(1), half, both])).toEqual([599, 0, 599, 0, 599]);
  expect(run(["c"], [[], whole(0)])).toEqual([599, 0]);
  expect(run([], [[]])).toEqual([599]);
});

test("a longer conversation replaces its prefix", () => {
  const disk = new FakeDisk();
  const engine = new FakeEngine(withDisk, undefined, disk);
  engine.add(1, 300, 5);
  engine.run();
  engine.end();
  const next = new FakeEngine(withDisk, undefined, disk);
  next.add(2, [...(engine.jobs.get(1)?.tokens ?? []), ...ids(300, 7000)], 5);
  next.run();
  next.end();
  expect([...disk.files.values()].map((file) => file.ids.length)).toEqual([609]);
});

test("other requests are computed while one waits for the disk, and several that need the same wait for one read", () => {
  const disk = new FakeDisk();
  disk.delay = 10;
  const earlier = new FakeEngine(withDisk, undefined, disk);
  earlier.add(1, 600, 2);
  earlier.run();
  earlier.end();
  const engine = new FakeEngine(withDisk, undefined, disk);
  const shared = [...ids(600, 10_000)];
  for (const key of [2, 3]) engine.add(key, [...shared, key, key, key], 3);
  engine.add(4, 50, 3);
  engine.step();
  expect(engine.rowsOf(4).length).toBe(50);
  expect(engine.rowsOf(2).length).toBe(0);
  engine.run();
  expect(disk.reads).toBe(1);
  expect(engine.cached.get(2)).toBe(600);
  expect(engine.cached.get(3)).toBeGreaterThanOrEqual(600);
});

test("a conversation that does not fit into the cache, or is faster to compute than to read, is left on disk", () => {
  const disk = new FakeDisk();
  disk.files.set(1, { ids: ids(900, 1), adapterKey: "" });
  const loads = (changes: Partial<typeof withDisk>, warm = false) => {
    const engine = new FakeEngine({ ...withDisk, ...changes }, undefined, disk);
    if (warm) {
      engine.add(1, 50, 5);
      engine.run();
    }
    engine.add(2, [...ids(300, 1), 1, 2, 3], 5);
    engine.run();
    expect(engine.output(2).length).toBe(5);
    return disk.reads;
  };
  expect(loads({ cells: 512 })).toBe(0);
  expect(loads({ hostBytes: 600 })).toBe(0);
  expect(loads({ readTokenMs: 1000 }, true)).toBe(0);
  expect(loads({})).toBe(1);
});

describe.each([
  ["unified", {}],
  ["streams", { layout: "streams", cells: 4 * 900, sequences: 4 }],
  ["whole conversations only", { canTrim: false }],
] as const)("%s: random conversations over restarts and crashes", (_, changes) => {
  test.each([1, 2, 3])(
    "no request reads another's tokens, and every answer is complete (seed %d)",
    (seed) => {
      const random = new Random(seed);
      const limits = { ...withDisk, cells: 1800, hostBytes: 2500, ...changes };
      const disk = new FakeDisk();
      disk.isDamaged = () => random.chance(0.1);
      const histories: number[][] = [];
      const files = ["a", "b"];
      let key = 0;
      for (let life = 0; life < 8; life++) {
        disk.delay = random.integer(0, 5);
        // The same adapters in another order.
        if (random.chance(0.5)) files.reverse();
        const engine = new FakeEngine(limits, undefined, disk, [...files]);
        for (let round = 0; round < 6; round++) {
          const asked = Array.from({ length: random.integer(1, 4) }, () => {
            const before = random.chance(0.7) ? (histories[random.integer(0, histories.length - 1)] ?? []) : [];
            const kept = before.slice(0, random.chance(0.8) ? before.length : random.integer(0, before.length));
            const prompt = [...kept, ...ids(random.integer(3, 300), ++key * 1000)];
            const set = random.chance(0.5) ? [] : [{ id: random.integer(0, 1), scale: random.pick([0.5, 1]) }];
            const asks = prompt.length > 800 ? prompt.slice(-300) : prompt;
            engine.add(key, asks, random.integer(1, 30), "", { adapters: set });
            return key;
          });
          for (let steps = random.integer(0, 20); steps > 0; steps--) engine.step();
          if (random.chance(0.2)) engine.disconnect(asked[0] ?? 0);
          engine.run();
          for (const one of asked) histories.push(engine.jobs.get(one)?.tokens ?? []);
          engine.now += random.integer(0, 3000);
        }
        // A crash loses everything that is not on disk, and pending commands.
        if (random.chance(0.5)) engine.end();
        // Another process may need the space.
        for (const id of disk.files.keys()) if (random.chance(0.1)) disk.files.delete(id);
      }
      expect(disk.reads).toBeGreaterThan(0);
    },
    60_000,
  );
});
