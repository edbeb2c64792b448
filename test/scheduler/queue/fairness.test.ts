import { describe, expect, test } from "bun:test";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

const ROOMY = { ...LIMITS, cells: 100_000, sequences: 64 };
/** A decode step takes 10 ms, a prompt token 1 ms. */
const cost = (decodeRows: number, prefillRows: number) => (decodeRows > 0 ? 10 : 0) + prefillRows;

const firstTokenMs = (engine: FakeEngine, key: number) => {
  const job = engine.jobs.get(key);
  return (job?.tokenAt[0] ?? Number.NaN) - (job?.addedAt ?? 0);
};

/** The client "steady" was served for long and asks again, as request 3; a background request of `batch` waits. */
function servedForLong(batch: string): FakeEngine {
  const engine = new FakeEngine({ ...ROOMY, parallel: 1 }, cost);
  engine.add(1, 20, 300, "steady");
  engine.step();
  engine.add(2, 20, 10, batch, { background: true });
  while (engine.output(1).length < 250) engine.step();
  engine.add(3, 20, 5, "steady");
  return engine;
}

describe("clients take turns", () => {
  test("and a flood of one client does not hold back the single request of another", () => {
    const engine = new FakeEngine(ROOMY, cost);
    for (let key = 1; key <= 64; key++) engine.add(key, 50, 100, "batch");
    while (engine.now < 1000) engine.step();
    engine.add(100, 20, 10, "chat");
    engine.run(100_000);
    expect(firstTokenMs(engine, 100)).toBeLessThan(300);
    for (let key = 1; key <= 64; key++) expect(engine.output(key).length).toBe(100);
  });

  test("and a client whose sequence was taken loses none of its computed tokens", () => {
    const engine = new FakeEngine(ROOMY, cost);
    for (let key = 1; key <= 8; key++) engine.add(key, 50, 200, "batch");
    while (engine.now < 1500) engine.step();
    engine.add(100, 20, 10, "chat");
    engine.run(100_000);
    expect(engine.scheduler.preemptions).toBe(1);
    expect(engine.prefilled).toBeLessThanOrEqual(8 * 50 + 20 + 2);
  });

  test("and a flood that holds all cells yields some to the single request of another", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 1000, sequences: 32, parallel: 32 }, cost);
    for (let key = 1; key <= 12; key++) engine.add(key, 50, 200, "batch");
    while (engine.output(6).length < 20) engine.step();
    engine.add(100, 300, 10, "chat");
    engine.run(100_000);
    expect(firstTokenMs(engine, 100)).toBeLessThan(1000);
    for (let key = 1; key <= 12; key++) expect(engine.output(key).length).toBe(200);
  });

  test("and a flood that grows until the cells are used up does not stop the request of another", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 1000, sequences: 32, parallel: 32 }, cost);
    for (let key = 1; key <= 8; key++) engine.add(key, 40, 400, "batch");
    while (engine.output(8).length === 0) engine.step();
    engine.add(100, 40, 150, "chat");
    engine.run(100_000);
    expect(engine.scheduler.preemptions).toBeGreaterThan(0);
    const times = engine.jobs.get(100)?.tokenAt ?? [];
    expect((times.at(-1) ?? Number.NaN) - (times[0] ?? 0)).toBeLessThan(150 * 15);
  });

  test("and two clients with many requests get about the same share", () => {
    const engine = new FakeEngine(ROOMY, cost);
    for (let key = 1; key <= 40; key++) engine.add(key, 40, 60, "first");
    for (let key = 41; key <= 80; key++) engine.add(key, 40, 60, "second");
    while (engine.now < 6000) engine.step();
    const served = (from: number) =>
      Array.from({ length: 40 }, (_, at) => engine.output(from + at).length).reduce((sum, tokens) => sum + tokens, 0);
    expect(served(1) / served(41)).toBeGreaterThan(0.8);
    expect(served(1) / served(41)).toBeLessThan(1.25);
  });

  test("and what a client used while nobody waited does not count against it", () => {
    const waitOf = (uses: boolean) => {
      const engine = new FakeEngine({ ...ROOMY, parallel: 4 }, cost);
      engine.add(1, 20, 5000, "light");
      let key = 10;
      while (engine.now < 20_000) {
        if (uses && engine.scheduler.runningCount + engine.scheduler.waitingCount < 3)
          engine.add(key++, 20, 50, "heavy");
        engine.step();
      }
      for (let flood = 0; flood < 100; flood++) engine.add(1000 + flood, 20, 50, "light");
      const asked = engine.now;
      engine.add(5000, 20, 5, "heavy");
      while (engine.output(5000).length === 0) engine.step();
      return engine.now - asked;
    };
    expect(waitOf(true)).toBeLessThan(3 * waitOf(false));
  });

  test("and while a batch waits, newcomers do not go one after the other before a client that was served for long", () => {
    const engine = servedForLong("batch");
    engine.add(10, 20, 50, "newcomer 10");
    engine.onFinish = (key) => {
      if (key >= 10 && key < 30) engine.add(key + 1, 20, 50, `newcomer ${key + 1}`);
    };
    engine.run(100_000);
    expect(engine.jobs.get(3)?.tokenAt[0]).toBeLessThan(engine.jobs.get(11)?.tokenAt[0] ?? 0);
  });

  // The server gives the lines of a batch a client of their own; the queue does not rely on that.
  test("and a client with a batch that waits has no claim to the time of others", () => {
    const engine = servedForLong("both");
    for (let key = 10; key < 20; key++) engine.add(key, 20, 20, "both");
    engine.run(100_000);
    expect(engine.jobs.get(3)?.tokenAt[0]).toBeLessThan(engine.jobs.get(12)?.tokenAt[0] ?? 0);
  });

  test("and a client's own requests run in order", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 1 }, cost);
    for (let key = 1; key <= 5; key++) engine.add(key, 30, 5, "only");
    engine.run();
    const firsts = [1, 2, 3, 4, 5].map((key) => engine.jobs.get(key)?.tokenAt[0] ?? 0);
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
  });
});

/**
 * Every sequence runs, so none is free to hold the tokens of a preempted request. A token takes 112 KB, offloaded at
 * 1 GB/s.
 */
const NONE_SPARE = { ...ROOMY, parallel: 4, sequences: 4, hostBytes: 100_000, offloadTokenMs: 0.112 };

describe.each([
  ["streams", { ...NONE_SPARE, layout: "streams" }],
  ["a model whose sequences cannot be trimmed", { ...NONE_SPARE, canTrim: false }],
] as const)("%s, no free sequence: a preempted request keeps its tokens", (_, limits) => {
  test("when it is preempted for another client", () => {
    const engine = new FakeEngine(limits, cost);
    for (let key = 1; key <= 8; key++) engine.add(key, 2000, 200, "batch");
    while (engine.output(4).length < 5) engine.step();
    engine.add(100, 20, 10, "chat");
    engine.run(100_000);
    expect(engine.scheduler.preemptions).toBe(1);
    expect(engine.prefilled).toBeLessThanOrEqual(8 * 2000 + 20 + 2);
    for (let key = 1; key <= 8; key++) expect(engine.output(key).length).toBe(200);
  });

  test("when it is preempted as a background request", () => {
    const engine = new FakeEngine({ ...limits, parallel: 2, sequences: 2 }, cost);
    for (let key = 1; key <= 8; key++) engine.add(key, 2000, 100, "batch", { background: true });
    while (engine.output(2).length < 5) engine.step();
    engine.add(100, 20, 10, "chat");
    engine.add(101, 20, 10, "chat");
    engine.run(100_000);
    expect(engine.scheduler.preemptions).toBe(2);
    expect(engine.prefilled).toBeLessThanOrEqual(8 * 2000 + 2 * 20 + 4);
    for (let key = 1; key <= 8; key++) expect(engine.output(key).length).toBe(100);
  });

  test("unless moving its tokens takes longer than computing them, or blocks streams for more than 1.5 seconds", () => {
    const parts = (offloadTokenMs: number, promptMs: number) => {
      const engine = new FakeEngine(
        { ...limits, parallel: 3, sequences: 3, offloadTokenMs },
        (decodeRows, prefillRows) => cost(decodeRows, promptMs * prefillRows),
      );
      for (let key = 1; key <= 3; key++) engine.add(key, 2000, 1000, "batch", { background: true });
      while (engine.output(3).length < 5) engine.step();
      for (const key of [100, 101]) engine.add(key, 20, 10, "chat");
      engine.step();
      expect(engine.scheduler.preemptions).toBe(2);
      return engine.offloadSizes.filter((tokens) => tokens > 0).length;
    };
    expect(parts(0.3, 1)).toBe(2);
    expect(parts(0.6, 1)).toBe(0);
    expect(parts(0.6, 2)).toBe(1);
    expect(parts(0.8, 2)).toBe(0);
  });

  test("and nothing is offloaded for a preempted request whose client has disconnected", () => {
    const engine = new FakeEngine({ ...limits, parallel: 2, sequences: 3 }, cost);
    for (const key of [1, 2]) engine.add(key, 2000, 200, "batch", { background: true });
    while (engine.output(2).length < 5) engine.step();
    engine.add(100, 20, 10, "chat");
    engine.step();
    engine.disconnect(2);
    while (engine.output(100).length < 10) engine.step();
    for (const key of [101, 102]) engine.add(key, 20, 100, "chat");
    engine.run(100_000);
    expect(engine.scheduler.preemptions).toBe(2);
    expect(engine.hostEntries.size).toBe(0);
    expect(engine.prefilled).toBeLessThanOrEqual(2 * 2000 + 3 * 20 + 2);
  });
});

describe("background requests", () => {
  const background = true;

  test("are preempted at once, and lose none of their computed tokens", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 2 }, cost);
    for (let key = 1; key <= 8; key++) engine.add(key, 50, 100, "batch", { background });
    while (engine.output(1).length < 5) engine.step();
    engine.add(100, 20, 10, "chat");
    engine.add(101, 20, 10, "chat");
    engine.run(100_000);
    for (const key of [100, 101]) expect(firstTokenMs(engine, key)).toBeLessThan(100);
    for (let key = 1; key <= 8; key++) expect(engine.output(key).length).toBe(100);
    expect(engine.prefilled).toBeLessThanOrEqual(8 * 50 + 2 * 20 + 4);
  });

  test("are not begun while other requests of any client wait", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 1 }, cost);
    for (let key = 1; key <= 3; key++) engine.add(key, 50, 5, "busy");
    engine.add(10, 5, 5, "batch", { background });
    for (let key = 4; key <= 6; key++) engine.add(key, 50, 5, "busy");
    engine.run();
    const begun = engine.jobs.get(10)?.tokenAt[0] ?? 0;
    for (let key = 1; key <= 6; key++) expect(engine.jobs.get(key)?.tokenAt[0]).toBeLessThan(begun);
  });

  test("are preempted for a prompt that would not fit next to them", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 1000, sequences: 16 }, cost);
    for (let key = 1; key <= 4; key++) engine.add(key, 150, 80, "batch", { background });
    while (engine.output(4).length === 0) engine.step();
    engine.add(100, 800, 10, "chat");
    engine.run(100_000);
    expect(firstTokenMs(engine, 100)).toBeLessThan(1300);
    for (let key = 1; key <= 4; key++) expect(engine.output(key).length).toBe(80);
  });

  const LARGE_BATCH = { ...ROOMY, batch: 2048, stallBudgetMs: 50 };
  const addBatch = (engine: FakeEngine) => {
    for (let key = 11; key <= 13; key++) engine.add(key, 1500, 10, "batch", { background });
  };

  test.each([0, 2048])("several pause a stream for no longer than one does; chunks of %p", (chunk) => {
    const engine = new FakeEngine({ ...LARGE_BATCH, chunk }, cost);
    engine.add(1, 20, 500, "chat");
    while (engine.output(1).length < 10) engine.step();
    addBatch(engine);
    engine.run(100_000);
    expect(engine.longestGap(1)).toBeLessThanOrEqual(1.2 * (50 + 10));
  });

  test("delay a new request by no more than a second, however many they are", () => {
    const engine = new FakeEngine(LARGE_BATCH, cost);
    engine.add(1, 500, 1);
    engine.run();
    addBatch(engine);
    const begun = engine.now;
    engine.step();
    engine.add(2, 20, 10, "chat");
    while (engine.output(2).length === 0) engine.step();
    expect(engine.now - begun).toBeLessThan(1100);
  });

  test("of several clients share the remaining capacity", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 1 }, cost);
    for (let key = 1; key <= 20; key++) engine.add(key, 40, 20, "one", { background });
    engine.add(100, 40, 20, "other", { background });
    engine.run();
    expect(firstTokenMs(engine, 100)).toBeLessThan(1000);
  });

  test("do not count as tokens that others wait for, and do not fill the queue", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 1 }, cost);
    for (let key = 1; key <= 5; key++) engine.add(key, 100, 5, "batch", { background });
    expect(engine.scheduler.waitingTokens).toBe(0);
    engine.add(6, 30, 5, "chat");
    expect(engine.scheduler.waitingTokens).toBe(30);
  });
});

describe("the order of prompts", () => {
  test("a short question goes before the rest of a long document", () => {
    const engine = new FakeEngine(ROOMY, cost);
    engine.add(1, 8000, 5);
    engine.step();
    engine.step();
    engine.add(2, 30, 5);
    engine.run();
    expect(firstTokenMs(engine, 2)).toBeLessThan(1000);
  });

  test("a long document is not overtaken by short questions forever", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 8 }, cost);
    engine.add(1, 4000, 5, "document");
    for (let key = 2; engine.output(1).length === 0; key++) {
      engine.add(key, 120, 1, `asker ${key}`);
      engine.step();
      if (engine.now > 60_000) throw new Error("the document starves");
    }
    expect(firstTokenMs(engine, 1)).toBeLessThan(3 * 4000);
  });
});

describe("the time until a place is free", () => {
  test("is estimated from the lengths of answers and the durations of steps", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 2 }, cost);
    for (let key = 1; key <= 6; key++) engine.add(key, 20, 100);
    while (engine.output(1).length < 20) engine.step();
    const expected = engine.scheduler.placeFreeMs() ?? 0;
    const since = engine.now;
    while (engine.output(1).length < 100) engine.step();
    expect(expected).toBeGreaterThan((engine.now - since) / 2);
    expect(expected).toBeLessThan((engine.now - since) * 2);
  });

  test("is undefined while answers have no limit and none has ended", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 1 }, cost);
    const shift = { room: 1000, keep: 0 };
    for (const key of [1, 2]) engine.add(key, 20, Number.POSITIVE_INFINITY, "", { shift });
    engine.scheduler.plan(0);
    expect(engine.scheduler.placeFreeMs()).toBeUndefined();
    for (let step = 0; step < 5; step++) engine.step();
    expect(engine.scheduler.placeFreeMs()).toBeUndefined();
  });

  test("is undefined while a place is free", () => {
    const engine = new FakeEngine(ROOMY, cost);
    engine.add(1, 20, 100);
    engine.step();
    expect(engine.scheduler.placeFreeMs()).toBeUndefined();
  });
});

describe("the expected time of a first token", () => {
  const request = (key: number, length: number, client = "") => ({
    key,
    prompt: Int32Array.from({ length }, (_, at) => key * 10_000 + at),
    maxTokens: 10,
    client,
  });

  test("is 0 while nothing is known and a sequence is free", () => {
    const engine = new FakeEngine(ROOMY, cost);
    expect(engine.scheduler.firstTokenMs(request(1, 500), 0)).toBe(0);
  });

  test("is estimated from the request's own prompt, without its cached tokens", () => {
    const engine = new FakeEngine(ROOMY, cost);
    engine.add(1, 500, 10);
    engine.run();
    expect(engine.scheduler.firstTokenMs(request(2, 300), engine.now)).toBeCloseTo(300, -1);
    expect(engine.scheduler.firstTokenMs(request(1, 500), engine.now)).toBeLessThan(10);
  });

  test("includes the end of one of the client's own requests when they have all sequences", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 2 }, cost);
    for (let key = 1; key <= 4; key++) engine.add(key, 20, 100, "batch");
    while (engine.output(3).length < 20) engine.step();
    const expected = engine.scheduler.firstTokenMs(request(9, 20, "batch"), engine.now);
    const free = engine.scheduler.placeFreeMs() ?? 0;
    expect(expected).toBeGreaterThan(free);
    expect(expected).toBeLessThan(free + 40);
  });

  test("does not when another client has more than its share", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 2 }, cost);
    for (let key = 1; key <= 4; key++) engine.add(key, 20, 100, "batch");
    while (engine.output(3).length < 20) engine.step();
    expect(engine.scheduler.firstTokenMs(request(9, 20, "chat"), engine.now)).toBeLessThan(40);
  });

  test("can be read without changing anything", () => {
    const [asked, other] = [new FakeEngine(ROOMY, cost), new FakeEngine(ROOMY, cost)];
    for (const engine of [asked, other]) {
      for (let key = 1; key <= 8; key++) engine.add(key, 50, 20);
      while (engine.step()) {
        if (engine !== asked) continue;
        engine.scheduler.firstTokenMs(request(99, 50), engine.now);
        engine.scheduler.waitingFor(engine.now);
      }
    }
    expect(asked.plans).toEqual(other.plans);
  });
});

describe("waiting requests are counted by what they wait for", () => {
  const none = { media: 0, sequence: 0, cells: 0, prefix: 0, turn: 0, step: 0 };

  test("a sequence, and the turn of another client", () => {
    const engine = new FakeEngine({ ...ROOMY, parallel: 2 }, cost);
    for (let key = 1; key <= 5; key++) engine.add(key, 20, 50, "first");
    engine.step();
    engine.add(10, 20, 50, "first");
    expect(engine.scheduler.waitingFor(engine.now)).toEqual({ ...none, sequence: 4 });
    engine.add(11, 20, 50, "second");
    expect(engine.scheduler.waitingFor(engine.now)).toEqual({ ...none, sequence: 5 });
    engine.step();
    // The first client has been served since the second arrived.
    expect(engine.scheduler.waitingFor(engine.now)).toEqual({ ...none, sequence: 1, turn: 4 });
    engine.run();
    expect(engine.scheduler.waitingFor(engine.now)).toEqual(none);
  });

  test("free cells", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 512, batch: 512 }, cost);
    engine.add(1, 300, 20);
    engine.add(2, 300, 20);
    engine.step();
    expect(engine.scheduler.waitingFor(engine.now)).toEqual({ ...none, cells: 1 });
    engine.run();
  });

  test("a prefix that another request is computing, otherwise the current step", () => {
    const engine = new FakeEngine(ROOMY, cost);
    const prompt = Array.from({ length: 600 }, (_, at) => at + 1);
    engine.add(1, prompt, 5);
    engine.step();
    engine.add(2, [...prompt, 7], 5);
    expect(engine.scheduler.waitingFor(engine.now)).toEqual({ ...none, step: 1 });
    engine.step();
    expect(engine.scheduler.waitingFor(engine.now)).toEqual({ ...none, prefix: 1 });
    engine.run();
  });
});
