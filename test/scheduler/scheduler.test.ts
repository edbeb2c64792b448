import { describe, expect, test } from "bun:test";
import { Scheduler, type SchedulerLimits, type StepPlan } from "../../src/scheduler/scheduler.ts";

const LIMITS: SchedulerLimits = { parallel: 4, cells: 1024, batch: 128, stallBudgetMs: 50 };

/** Drives a scheduler as the engine would, and checks every plan against a model of the KV cache. */
class FakeEngine {
  readonly scheduler: Scheduler;
  /** Per sequence id: which request's position is in which cell. */
  private readonly cache = new Map<number, { key: number; length: number }>();
  readonly output = new Map<number, number[]>();
  readonly plans: StepPlan[] = [];
  private readonly prompts = new Map<number, Int32Array>();

  constructor(
    private readonly limits: SchedulerLimits = LIMITS,
    /** What a prompt token and a decode row cost. */
    private readonly msPerRow = 1,
    private readonly msPerDecodeRow = msPerRow,
  ) {
    this.scheduler = new Scheduler(limits);
  }

  add(key: number, promptLength: number, maxTokens: number, leader?: number): void {
    const prompt = Int32Array.from({ length: promptLength }, (_, index) => (leader ?? key) * 10_000 + index);
    this.prompts.set(key, prompt);
    this.scheduler.add({ key, prompt, maxTokens, ...(leader !== undefined && { leader }) });
  }

  /** The token that request `key` says at `position`: known, so that a resumed request can be checked. */
  static token(key: number, position: number): number {
    return key * 10_000 + 5_000 + position;
  }

  step(): StepPlan | undefined {
    const plan = this.scheduler.plan();
    for (const id of this.scheduler.takeReleased()) this.cache.delete(id);
    for (const { from, to, length } of this.scheduler.takeCopies()) {
      const source = this.cache.get(from);
      expect(source?.length ?? 0).toBeGreaterThanOrEqual(length);
      const key = plan?.rows.find((row) => row.sequence === to)?.key;
      expect(this.cache.has(to)).toBe(false);
      this.cache.set(to, { key: key ?? -1, length });
    }
    if (!plan) return undefined;
    this.plans.push(plan);
    expect(plan.rows.length).toBeLessThanOrEqual(this.limits.batch);
    let previous = -1;
    const sampled: number[] = [];
    for (const row of plan.rows) {
      expect(row.sequence).toBeGreaterThanOrEqual(previous);
      expect(row.sequence).toBeLessThan(this.limits.parallel);
      previous = row.sequence;
      const cell = this.cache.get(row.sequence) ?? { key: row.key, length: 0 };
      expect(cell.key).toBe(row.key);
      expect(row.position).toBe(cell.length);
      const prompt = this.prompts.get(row.key) as Int32Array;
      const said = this.output.get(row.key) ?? [];
      const expected = row.position < prompt.length ? prompt[row.position] : said[row.position - prompt.length];
      expect(row.token).toBe(expected as number);
      this.cache.set(row.sequence, { key: row.key, length: row.position + 1 });
      if (row.sample) sampled.push(FakeEngine.token(row.key, row.position));
    }
    const used = [...this.cache.values()].reduce((sum, cell) => sum + cell.length, 0);
    expect(used).toBeLessThanOrEqual(this.limits.cells);
    const ms = plan.prefillRows * this.msPerRow + plan.decodeRows * this.msPerDecodeRow;
    const results = this.scheduler.apply(plan, sampled, ms);
    for (const { key, token, last } of results) {
      this.output.set(key, [...(this.output.get(key) ?? []), token]);
      if (last) this.scheduler.remove(key);
    }
    return plan;
  }

  run(limit = 10_000): void {
    for (let steps = 0; this.step(); steps++) if (steps > limit) throw new Error("the scheduler does not finish");
  }
}

describe("one request", () => {
  test("is prefilled, decoded to its limit and forgotten", () => {
    const engine = new FakeEngine();
    engine.add(1, 5, 3);
    engine.run();
    expect(engine.output.get(1)).toEqual([4, 5, 6].map((position) => FakeEngine.token(1, position)));
    expect(engine.plans.map((plan) => plan.rows.length)).toEqual([5, 1, 1]);
    expect(engine.scheduler.hasWork).toBe(false);
    expect(engine.scheduler.cellsUsed).toBe(0);
  });

  test("samples only the last row of its prompt, whatever the chunks", () => {
    const engine = new FakeEngine();
    engine.add(1, 300, 1);
    engine.run();
    const sampledRows = engine.plans.flatMap((plan) => plan.rows.filter((row) => row.sample));
    expect(engine.plans.length).toBeGreaterThan(1);
    expect(sampledRows.map((row) => row.position)).toEqual([299]);
  });

  test("owns its batches alone", () => {
    const engine = new FakeEngine();
    engine.add(7, 200, 2);
    engine.run();
    expect(engine.plans.every((plan) => plan.owner === 7)).toBe(true);
  });
});

describe("continuous batching", () => {
  test("streams decode in every step while another prompt is prefilled", () => {
    const engine = new FakeEngine();
    engine.add(1, 4, 50);
    engine.step();
    engine.add(2, 500, 5);
    while (!engine.output.has(2)) {
      const plan = engine.step();
      expect(plan?.rows.some((row) => row.key === 1 && row.sample)).toBe(true);
      expect(plan?.owner).toBeUndefined();
    }
  });

  test("a prompt chunk beside streams costs no more than the stall budget, once costs are known", () => {
    const engine = new FakeEngine({ ...LIMITS, stallBudgetMs: 40 }, 1);
    engine.add(1, 4, 200);
    for (let step = 0; step < 5; step++) engine.step();
    engine.add(2, 900, 1);
    const chunks: number[] = [];
    while (!engine.output.has(2)) chunks.push(engine.step()?.prefillRows ?? 0);
    expect(Math.max(...chunks.slice(1))).toBeLessThanOrEqual(41);
    expect(Math.max(...chunks)).toBeGreaterThan(16);
  });

  test("a crowd that waits for its first token is worth a longer pause to the few that decode", () => {
    const engine = new FakeEngine({ ...LIMITS, parallel: 8, batch: 512, stallBudgetMs: 20 }, 1);
    engine.add(1, 4, 200);
    for (let step = 0; step < 5; step++) engine.step();
    engine.add(2, 100, 1);
    engine.step();
    for (let key = 3; key <= 8; key++) engine.add(key, 100, 1);
    const chunks: number[] = [];
    while (!engine.output.has(3)) chunks.push(engine.step()?.prefillRows ?? 0);
    expect(Math.max(...chunks)).toBeGreaterThan(200);
  });

  test("where a decode step alone exceeds the stall budget, a chunk may take as long as the step", () => {
    const engine = new FakeEngine({ ...LIMITS, stallBudgetMs: 5 }, 1, 40);
    engine.add(1, 4, 200);
    for (let step = 0; step < 5; step++) engine.step();
    engine.add(2, 600, 1);
    const chunks: number[] = [];
    while (!engine.output.has(2)) chunks.push(engine.step()?.prefillRows ?? 0);
    expect(Math.max(...chunks)).toBe(40);
  });

  test("requests are admitted in the order in which they came, as far as there are sequences", () => {
    const engine = new FakeEngine({ ...LIMITS, parallel: 2 });
    for (const key of [1, 2, 3]) engine.add(key, 4, 4);
    engine.step();
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount]).toEqual([2, 1]);
    engine.run();
    expect([...engine.output.keys()]).toEqual([1, 2, 3]);
  });

  test("the lowest free sequence id is used again, so that ids stay compact", () => {
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
  test("keeps the next request waiting instead of failing anyone", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 256 });
    engine.add(1, 150, 20);
    engine.add(2, 150, 20);
    engine.step();
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount]).toEqual([1, 1]);
    engine.run();
    expect(engine.output.get(1)?.length).toBe(20);
    expect(engine.output.get(2)?.length).toBe(20);
  });

  test("sends the newest back to the queue and later resumes it where it was", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 256 });
    engine.add(1, 60, 190);
    engine.add(2, 60, 190);
    engine.run();
    expect(engine.scheduler.preemptions).toBeGreaterThan(0);
    for (const key of [1, 2]) {
      const expected = Array.from({ length: 190 }, (_, index) => FakeEngine.token(key, 59 + index));
      expect(engine.output.get(key)).toEqual(expected);
    }
  });

  test("a request that needs every cell is served alone", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 256 });
    engine.add(1, 10, 30);
    engine.add(2, 200, 56);
    engine.add(3, 10, 30);
    engine.run();
    expect([1, 2, 3].map((key) => engine.output.get(key)?.length)).toEqual([30, 56, 30]);
  });
});

describe("removal", () => {
  test("frees a sequence at once, in prefill, in decode and in the queue", () => {
    const engine = new FakeEngine({ ...LIMITS, parallel: 2 });
    engine.add(1, 900, 10);
    engine.add(2, 4, 10);
    engine.add(3, 4, 10);
    engine.step();
    for (const key of [1, 2, 3]) engine.scheduler.remove(key);
    expect(engine.scheduler.hasWork).toBe(false);
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount, engine.scheduler.cellsUsed]).toEqual([
      0, 0, 0,
    ]);
    expect(engine.scheduler.takeReleased()).toEqual([0, 1]);
    expect(engine.scheduler.takeReleased()).toEqual([]);
    expect(engine.step()).toBeUndefined();
  });

  test("of a request that is not there changes nothing", () => {
    const engine = new FakeEngine();
    engine.add(1, 4, 2);
    engine.scheduler.remove(99);
    engine.run();
    expect(engine.output.get(1)?.length).toBe(2);
  });
});

test("a random day: every request gets exactly its tokens, the cache is never overcommitted", () => {
  let state = 42;
  const random = (below: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % below;
  const engine = new FakeEngine({ parallel: 6, cells: 700, batch: 96, stallBudgetMs: 30 });
  const wanted = new Map<number, number>();
  const removed = new Set<number>();
  for (let key = 1; key <= 200; key++) {
    const prompt = 1 + random(300);
    const tokens = 1 + random(80);
    wanted.set(key, tokens);
    engine.add(key, prompt, tokens);
    for (let steps = random(6); steps > 0; steps--) engine.step();
    const victim = 1 + random(key);
    if (random(10) === 0 && (engine.output.get(victim)?.length ?? 0) < (wanted.get(victim) ?? 0)) {
      engine.scheduler.remove(victim);
      removed.add(victim);
    }
  }
  engine.run(100_000);
  for (const [key, tokens] of wanted) {
    if (!removed.has(key)) expect(engine.output.get(key)?.length).toBe(tokens);
  }
  expect(engine.scheduler.cellsUsed).toBe(0);
});

describe("requests with one prompt", () => {
  const rowsOf = (engine: FakeEngine, key: number) =>
    engine.plans.flatMap((plan) => plan.rows.filter((row) => row.key === key));

  test("it is computed once and copied; each samples for itself", () => {
    const engine = new FakeEngine();
    engine.add(1, 300, 5);
    engine.add(2, 300, 5, 1);
    engine.add(3, 300, 5, 1);
    while (engine.step());
    expect(rowsOf(engine, 1).length).toBe(300 + 4);
    // The last prompt token, whose logits it needs, and its own.
    expect(rowsOf(engine, 2).length).toBe(1 + 4);
    expect(rowsOf(engine, 3)[0]?.position).toBe(299);
    expect(engine.plans.flatMap((plan) => plan.started).toSorted()).toEqual([1, 2, 3]);
  });

  test("somebody else behind them does not wait for the shared prompt", () => {
    const engine = new FakeEngine();
    engine.add(1, 600, 2);
    engine.add(2, 600, 2, 1);
    engine.add(3, 10, 2);
    engine.step();
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount]).toEqual([2, 1]);
  });

  test("when the first one goes, the others compute the prompt themselves", () => {
    const engine = new FakeEngine();
    engine.add(1, 300, 5);
    engine.add(2, 300, 5, 1);
    engine.step();
    engine.scheduler.remove(1);
    while (engine.step());
    expect(rowsOf(engine, 2).length).toBe(300 + 4);
    expect(engine.output.get(2)?.length).toBe(5);
  });

  test("what was copied is told", () => {
    const engine = new FakeEngine();
    engine.add(1, 50, 20);
    engine.add(2, 50, 20, 1);
    while (engine.output.get(2) === undefined) engine.step();
    expect([engine.scheduler.sharedTokens(1), engine.scheduler.sharedTokens(2)]).toEqual([0, 49]);
  });
});
