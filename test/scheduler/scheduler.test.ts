import { describe, expect, test } from "bun:test";
import { FakeEngine, LIMITS, type Cost } from "./fake-engine.ts";

/** Costs of a prompt token and of a decode row, in milliseconds. */
const costs =
  (prompt: number, decode = prompt): Cost =>
  (decodeRows, prefillRows) =>
    decodeRows * decode + prefillRows * prompt;

describe("one request", () => {
  test("is prefilled, decoded to its limit and forgotten", () => {
    const engine = new FakeEngine();
    engine.add(1, 5, 3);
    engine.run();
    expect(engine.output(1).length).toBe(3);
    expect(engine.plans.map((plan) => plan.rows.length)).toEqual([5, 1, 1]);
    expect(engine.scheduler.hasWork).toBe(false);
    expect(engine.scheduler.kv.runningCells).toBe(0);
  });

  test("samples only the last row of its prompt, whatever the chunks", () => {
    const engine = new FakeEngine();
    engine.add(1, 300, 1);
    engine.run();
    const sampledRows = engine.plans.flatMap((plan) => plan.rows.filter((row) => row.sample));
    expect(engine.plans.length).toBeGreaterThan(1);
    expect(sampledRows.map((row) => row.position)).toEqual([299]);
  });

  test("with a scored prompt has all of its rows marked, few per step, and uses no cached tokens", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 4096 });
    const prompt = Array.from({ length: 300 }, (_, at) => at);
    engine.add(1, prompt, 2);
    engine.run();
    const before = engine.plans.length;
    engine.add(2, prompt, 2, "", { scored: true });
    engine.add(3, prompt, 2, "", { scored: true });
    engine.run();
    const plans = engine.plans.slice(before);
    for (const plan of plans) {
      const scored = plan.rows.filter(({ score }) => score);
      expect(scored.length).toBeLessThanOrEqual(64);
      expect(new Set(scored.map(({ key }) => key)).size).toBeLessThanOrEqual(1);
    }
    for (const key of [2, 3]) {
      const rows = plans.flatMap((plan) => plan.rows.filter((row) => row.key === key && row.score));
      expect(rows.map(({ index }) => index)).toEqual(prompt.slice(0, -1));
      expect(engine.output(key).length).toBe(2);
    }
  });

  test("with `fresh` is computed completely, and its tokens serve later requests", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 4096 });
    const prompt = Array.from({ length: 300 }, (_, at) => at);
    const computed = (key: number, fresh: boolean) => {
      const before = engine.plans.length;
      engine.add(key, prompt, 1, "", { fresh });
      engine.run();
      return engine.plans.slice(before).reduce((sum, plan) => sum + plan.rows.length, 0);
    };
    expect([computed(1, false), computed(2, true), computed(3, false)]).toEqual([300, 300, 1]);
  });
});

describe("continuous batching", () => {
  test("streams decode in every step while another prompt is prefilled", () => {
    const engine = new FakeEngine();
    engine.add(1, 4, 50);
    engine.step();
    engine.add(2, 500, 5);
    while (engine.output(2).length === 0) {
      const plan = engine.step();
      expect(plan?.rows.some((row) => row.key === 1 && row.sample)).toBe(true);
    }
  });

  test("a prompt chunk next to streams costs no more than the stall budget, once costs are known", () => {
    const engine = new FakeEngine({ ...LIMITS, stallBudgetMs: 40 }, costs(1));
    engine.add(1, 4, 200);
    for (let step = 0; step < 5; step++) engine.step();
    engine.add(2, 900, 1);
    const chunks: number[] = [];
    while (engine.output(2).length === 0) chunks.push(engine.step()?.prefillRows ?? 0);
    expect(Math.max(...chunks.slice(1))).toBeLessThanOrEqual(40);
    expect(Math.max(...chunks)).toBeGreaterThan(16);
  });

  test("a burst of waiting prompts may pause few decoding streams for longer", () => {
    const engine = new FakeEngine({ ...LIMITS, parallel: 8, batch: 512, stallBudgetMs: 20 }, costs(1));
    engine.add(1, 4, 200);
    for (let step = 0; step < 5; step++) engine.step();
    engine.add(2, 100, 1);
    engine.step();
    for (let key = 3; key <= 8; key++) engine.add(key, 100, 1);
    const chunks: number[] = [];
    while (engine.output(3).length === 0) chunks.push(engine.step()?.prefillRows ?? 0);
    expect(Math.max(...chunks)).toBeGreaterThan(200);
  });

  test("when a decode step alone exceeds the stall budget, a chunk may take as long as the step", () => {
    const engine = new FakeEngine({ ...LIMITS, stallBudgetMs: 5 }, costs(1, 40));
    engine.add(1, 4, 200);
    for (let step = 0; step < 5; step++) engine.step();
    engine.add(2, 600, 1);
    const chunks: number[] = [];
    while (engine.output(2).length === 0) chunks.push(engine.step()?.prefillRows ?? 0);
    expect(Math.max(...chunks)).toBe(40);
  });

  test("requests are admitted in order of arrival, as far as there are sequences", () => {
    const engine = new FakeEngine({ ...LIMITS, parallel: 2 });
    for (const key of [1, 2, 3]) engine.add(key, 4, 4);
    engine.step();
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount]).toEqual([2, 1]);
    engine.run();
    expect([1, 2, 3].map((key) => engine.output(key).length)).toEqual([4, 4, 4]);
  });

  test("the lowest free sequence id is reused, so that ids stay compact", () => {
    const engine = new FakeEngine();
    engine.add(1, 4, 2);
    engine.add(2, 4, 50);
    for (let step = 0; step < 4; step++) engine.step();
    engine.add(3, 4, 5);
    engine.step();
    const row = engine.plans.at(-1)?.rows.find((candidate) => candidate.key === 3);
    expect(row?.sequence).toBe(0);
  });
});

describe("a full KV cache", () => {
  test("keeps the next request waiting instead of failing any", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 256 });
    engine.add(1, 150, 20);
    engine.add(2, 150, 20);
    engine.step();
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount]).toEqual([1, 1]);
    engine.run();
    expect(engine.output(1).length).toBe(20);
    expect(engine.output(2).length).toBe(20);
  });

  test("preempts the newest request and later resumes it without losing tokens", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 256 });
    engine.add(1, 60, 190);
    engine.add(2, 60, 190);
    engine.run();
    expect(engine.preempted.length).toBeGreaterThan(0);
    expect(engine.preempted).toEqual(engine.preempted.map(() => 2));
    expect(engine.scheduler.preemptions).toBe(engine.preempted.length);
    for (const key of [1, 2]) expect(engine.output(key).length).toBe(190);
  });

  test.each([
    ["in host memory", { hostBytes: 5000, offloadTokenMs: 0.001 }, 2],
    ["except those at its end that others need", {}, 128],
  ])("keeps the computed tokens of a request that is preempted: %s", (_, host, again) => {
    const engine = new FakeEngine({ ...LIMITS, cells: 1000, ...host });
    for (const key of [1, 2]) engine.add(key, 400, 110);
    engine.run();
    expect(engine.preempted).toContain(2);
    expect(engine.prefilled).toBeLessThanOrEqual(2 * 400 + again);
  });

  test("a request that needs every cell is served alone", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 256 });
    engine.add(1, 10, 30);
    engine.add(2, 200, 56);
    engine.add(3, 10, 30);
    engine.run();
    expect([1, 2, 3].map((key) => engine.output(key).length)).toEqual([30, 56, 30]);
  });
});

describe("removal", () => {
  test("frees a sequence at once, in prefill, in decode and in the queue", () => {
    const engine = new FakeEngine({ ...LIMITS, parallel: 2 });
    engine.add(1, 900, 10);
    engine.add(2, 4, 10);
    engine.add(3, 4, 10);
    engine.step();
    for (const key of [1, 2, 3]) engine.remove(key);
    expect(engine.scheduler.hasWork).toBe(false);
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount, engine.scheduler.kv.runningCells]).toEqual([
      0, 0, 0,
    ]);
    expect(engine.step()).toBeUndefined();
  });

  test("of an unknown request changes nothing", () => {
    const engine = new FakeEngine();
    engine.add(1, 4, 2);
    engine.remove(99);
    engine.run();
    expect(engine.output(1).length).toBe(2);
  });
});

test.each([0, 48])(
  "random load, chunks of %d: every request gets its tokens, and the cache is never overcommitted",
  (chunk) => {
    let state = 42;
    const random = (below: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % below;
    const engine = new FakeEngine({ ...LIMITS, parallel: 6, cells: 700, batch: 96, chunk, stallBudgetMs: 30 });
    const wanted = new Map<number, number>();
    const removed = new Set<number>();
    for (let key = 1; key <= 200; key++) {
      const prompt = 1 + random(300);
      const tokens = 1 + random(80);
      wanted.set(key, tokens);
      engine.add(key, prompt, tokens);
      for (let steps = random(6); steps > 0; steps--) engine.step();
      const victim = 1 + random(key);
      if (random(10) === 0 && engine.output(victim).length < (wanted.get(victim) ?? 0)) {
        engine.remove(victim);
        removed.add(victim);
      }
    }
    engine.run(100_000);
    for (const [key, tokens] of wanted) {
      if (!removed.has(key)) expect(engine.output(key).length).toBe(tokens);
    }
    expect(engine.scheduler.kv.runningCells).toBe(0);
  },
);
