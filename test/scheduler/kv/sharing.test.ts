import { describe, expect, test } from "bun:test";
import type { SchedulerLimits } from "../../../src/scheduler/limits.ts";
import { Random } from "../../support/random.ts";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

const STREAMS: SchedulerLimits = { ...LIMITS, layout: "streams", cells: 4096, sequences: 4 };
const LAYOUTS: [string, SchedulerLimits][] = [
  ["unified", { ...LIMITS, cells: 4096 }],
  ["streams", STREAMS],
  ["paged", { ...LIMITS, layout: "paged", cells: 4096 }],
];

const range = (length: number, from: number) => Array.from({ length }, (_, at) => from + at);
const header = range(300, 1_000_000);

describe.each(LAYOUTS)("%s: a short prefix", (_, limits) => {
  test("stays cached whatever other requests run meanwhile, as long as there are sequence ids for all", () => {
    const random = new Random(1);
    for (let pair = 0; pair < 6; pair++) {
      const wide = { ...limits, parallel: 8, sequences: 32, cells: 32 * 256, copyMs: 1 };
      const engine = new FakeEngine(wide, (decode, prefill) => 2 + 0.1 * decode + 0.3 * prefill);
      engine.keepPlans = false;
      let key = 0;
      const others = new Set<number>();
      engine.onFinish = (ended) => void others.delete(ended);
      const step = () => {
        while (others.size < 4) {
          engine.add(++key, random.integer(20, 80), random.integer(10, 70));
          others.add(key);
        }
        engine.step();
      };
      const ask = (tail: number) => {
        const own = ++key;
        engine.add(own, [...range(52, 1_000_000), ...range(11, tail)], 16);
        while (!engine.cached.has(own)) step();
        return engine.cached.get(own);
      };
      for (let n = random.integer(1, 30); n > 0; n--) step();
      expect(ask(2_000_000)).toBe(0);
      for (let n = random.integer(1, 60); n > 0; n--) step();
      expect(ask(3_000_000)).toBe(52);
    }
  });
});

describe.each(LAYOUTS)("%s: a prompt that shares a prefix with an earlier one", (_, limits) => {
  test("is computed from the first difference", () => {
    const engine = new FakeEngine(limits);
    engine.add(1, [...header, 1, 2, 3], 5);
    engine.run();
    engine.add(2, [...header, 7, 8], 5);
    engine.run();
    expect(engine.rowsOf(2)[0]?.position).toBe(300);
    expect([engine.cached.get(1), engine.cached.get(2)]).toEqual([0, 300]);
  });

  test.each([1, 3])(
    "is not computed again for the lines of a batch, %p at a time, however few cells are left",
    (parallel) => {
      const streams = limits.layout === "streams";
      const engine = new FakeEngine({ ...limits, parallel, ...(!streams && { cells: 1000, hostBytes: 10_000 }) });
      engine.add(1, 450, 5, "chat");
      engine.run();
      for (let key = 10; key < 30; key++)
        engine.add(key, [...header, ...range(100, key * 1000)], 5, "batch", { background: true });
      engine.run();
      expect(engine.prefilled).toBeLessThan(450 + 300 + 20 * (100 + 1));
    },
  );

  test.each([
    ["every sequence id is in use", 4],
    ["sequence ids are unused", 16],
  ])("is computed once for the lines of a batch that share more with each other, when %s", (_case, sequences) => {
    const engine = new FakeEngine({ ...limits, cells: sequences * 1024, sequences, parallel: 1 });
    for (const prompt of [header, 500, 500, 500]) {
      engine.add(engine.jobs.size + 1, prompt, 1, "chat");
      engine.run();
      engine.now += 1000;
    }
    for (let line = 11; line < 19; line++) {
      engine.add(line, [...header, ...range(500, 2_000_000), line, 1, 2], 5, "batch", { background: true });
    }
    engine.run();
    expect(engine.prefilled).toBe(300 + 3 * 500 + 500 + 8 * 3);
  });

  test("is computed from there even while the earlier request runs", () => {
    const engine = new FakeEngine(limits);
    engine.add(1, [...header, 1, 2, 3], 50);
    while (engine.output(1).length < 3) engine.step();
    engine.add(2, [...header, 7, 8], 5);
    engine.run();
    expect(engine.rowsOf(2).length).toBe(2 + 4);
    expect(engine.output(1).length).toBe(50);
  });

  test("is computed from its new tokens when it is the next turn of a conversation", () => {
    const engine = new FakeEngine(limits);
    engine.add(1, header, 20);
    engine.run();
    const second = [...header, ...engine.output(1), 5, 6, 7];
    engine.add(2, second, 20);
    engine.run();
    // The last token of the answer was sampled but never computed.
    expect(engine.cached.get(2)).toBe(319);
    engine.add(3, [...second, ...engine.output(2), 9], 1);
    engine.run();
    expect(engine.cached.get(3)).toBe(second.length + 19);
  });

  test("computes only its last token when it is the same prompt, to get its logits", () => {
    const engine = new FakeEngine(limits);
    engine.add(1, header, 3);
    engine.run();
    engine.add(2, header, 3);
    engine.run();
    expect(engine.rowsOf(2).map(({ position }) => position)).toEqual([299, 300, 301]);
    expect(engine.output(2)).toEqual(engine.output(1));
  });

  test("is computed once when several requests arrive at the same time", () => {
    const engine = new FakeEngine({ ...limits, batch: 64 });
    for (let key = 1; key <= 4; key++) engine.add(key, [...header, key, key, key], 5);
    engine.run();
    expect(engine.prefilled).toBe(300 + 4 * 3);
    expect([1, 2, 3, 4].map((key) => engine.cached.get(key))).toEqual([0, 300, 300, 300]);
  });

  test("is continued by the next request when the one that computes it is cancelled", () => {
    const engine = new FakeEngine({ ...limits, batch: 64 });
    for (let key = 1; key <= 3; key++) engine.add(key, [...header, key], 5);
    engine.step();
    engine.step();
    engine.remove(1);
    engine.run();
    expect(engine.prefilled).toBe(300 + 2);
    expect([2, 3].map((key) => engine.output(key).length)).toEqual([5, 5]);
  });

  test("does not keep an unrelated request waiting", () => {
    const engine = new FakeEngine({ ...limits, batch: 64 });
    engine.add(1, header, 2);
    engine.add(2, header, 2);
    engine.add(3, 10, 2);
    engine.step();
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount]).toEqual([2, 1]);
  });

  test("is computed completely without the prefix cache", () => {
    const engine = new FakeEngine({ ...limits, reuse: false });
    for (const key of [1, 2, 3]) engine.add(key, header, 5);
    engine.run();
    expect(engine.prefilled).toBe(900);
    expect(engine.scheduler.kv.idleCells).toBe(0);
    expect(engine.scheduler.kv.evictedTokens).toBe(0);
  });

  test("continues a whole sequence on a model that cannot be trimmed", () => {
    const engine = new FakeEngine({ ...limits, canTrim: false });
    engine.add(1, header, 20);
    engine.run();
    engine.add(2, [...header, 5], 2);
    engine.run();
    expect(engine.cached.get(2)).toBe(0);
    engine.add(3, [...header, ...engine.output(1), 5, 6], 2);
    engine.run();
    expect(engine.cached.get(3)).toBe(319);
  });

  test.each([
    ["without", 0],
    ["with", 6000],
  ])(
    "random conversations, cancels, few cells, %s host memory: no request reads another's tokens",
    (_name, hostBytes) => {
      let state = 7;
      const random = (below: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % below;
      const scale = hostBytes > 0 ? 6 : 1;
      const capacity = { cells: limits.layout === "streams" ? scale * 4 * 600 : hostBytes > 0 ? 2600 : 900 };
      const engine = new FakeEngine({
        ...limits,
        ...capacity,
        hostBytes,
        offloadTokenMs: 0.01,
        sequences: limits.layout === "streams" ? 4 : 7,
      });
      engine.keepPlans = false;
      const histories = [
        [40, 1],
        [90, 1],
        [60, 500],
        [50, 900],
      ].map(([length = 0, from]) => range(scale * length, from ?? 0));
      const asked = new Map<number, number>();
      const left = new Set<number>();
      for (let key = 1; key <= 200; key++) {
        const history = histories[random(histories.length)] ?? [];
        const prompt = [...history.slice(0, 20 + random(history.length)), ...range(1 + random(40), random(3) * 1000)];
        const tokens = 1 + random(60);
        engine.add(key, prompt, tokens, `client ${random(3)}`);
        asked.set(key, tokens);
        for (let steps = random(5); steps > 0; steps--) engine.step();
        const gone = 1 + random(key);
        const unfinished = engine.output(gone).length < (asked.get(gone) ?? 0);
        if (random(6) === 0 && unfinished) {
          engine.remove(gone);
          left.add(gone);
        }
        const known = engine.jobs.get(1 + random(key))?.tokens ?? [];
        if (random(3) === 0 && known.length < scale * 400) histories[random(histories.length)] = [...known];
      }
      engine.run(100_000);
      for (const [key, tokens] of asked) if (!left.has(key)) expect(engine.output(key).length).toBe(tokens);
      expect(engine.scheduler.kv.runningCells).toBe(0);
      if (limits.layout !== "streams") expect(engine.scheduler.kv.idleCells).toBe(engine.cells);
      expect([...engine.cached.values()].some((tokens) => tokens > 50)).toBe(true);
      if (hostBytes === 0) expect(engine.scheduler.kv.host.restored).toBe(0);
    },
  );
});

describe("free cells in a unified cache", () => {
  test("those of finished requests are evicted for running ones: the oldest request first, from its end", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 1000 });
    engine.add(1, 400, 2);
    engine.run();
    engine.now += 10_000;
    engine.add(2, 400, 2);
    engine.run();
    engine.now += 10_000;
    engine.add(3, 300, 2);
    engine.run();
    expect(engine.output(3).length).toBe(2);
    expect(engine.scheduler.kv.evictedTokens).toBeGreaterThan(100);
    const again = range(400, 20_000);
    engine.add(4, again, 2);
    engine.run();
    expect(engine.cached.get(4)).toBe(399);
  });

  test("count shared tokens once", () => {
    const engine = new FakeEngine({ ...LIMITS, cells: 512 });
    for (let key = 1; key <= 4; key++) engine.add(key, [...header, key], 30);
    while (engine.scheduler.waitingCount > 0) engine.step();
    expect(engine.scheduler.runningCount).toBe(4);
    expect(engine.cells).toBeLessThan(512);
    engine.run();
    expect(engine.scheduler.preemptions).toBe(0);
  });
});

describe("streams", () => {
  test("a sequence that is mostly reused is taken over, and for a short prefix another one is evicted", () => {
    const engine = new FakeEngine({ ...STREAMS, parallel: 2, sequences: 2, cells: 2048 });
    engine.add(1, [...header, ...range(200, 5000)], 2);
    engine.run();
    engine.now += 5000;
    engine.add(2, 100, 2);
    engine.run();
    engine.now += 5000;
    engine.add(3, [...header.slice(0, 20), 1], 2);
    engine.run();
    engine.add(4, [...header, ...range(200, 5000), 4], 2);
    engine.run();
    expect(engine.cached.get(4)).toBe(500);
  });

  test("a copy that costs more than it saves is not made", () => {
    const engine = new FakeEngine({ ...STREAMS, copyMs: 1000 });
    engine.add(1, header, 30);
    while (engine.output(1).length < 2) engine.step();
    engine.add(2, [...header, 1], 2);
    engine.run();
    expect(engine.cached.get(2)).toBe(0);
  });

  test("requests with a prefix whose copy would cost too much are computed at the same time", () => {
    const engine = new FakeEngine({ ...STREAMS, copyMs: 1000, batch: 1024 });
    engine.add(1, 100, 2);
    engine.run();
    for (const key of [2, 3, 4]) engine.add(key, [...header, key], 2);
    const plan = engine.step();
    expect(new Set(plan?.rows.map(({ key }) => key))).toEqual(new Set([2, 3, 4]));
    engine.run();
  });

  test("running requests occupy adjacent sequences, whatever lies around them", () => {
    const engine = new FakeEngine({ ...STREAMS, parallel: 8, sequences: 8, cells: 8 * 600 });
    for (let key = 1; key <= 8; key++) engine.add(key, 100, 2);
    engine.run();
    // One request continues its earlier sequence in the middle.
    const [, , , turn = []] = [0, 1, 2, 3].map((at) => engine.jobs.get(at + 1)?.tokens);
    engine.add(11, [...turn, 5], 30);
    engine.step();
    for (const key of [12, 13]) {
      engine.now += 1000;
      engine.add(key, 50, 30);
    }
    while (engine.output(13).length < 3) engine.step();
    const ids = [...new Set(engine.plans.at(-1)?.rows.map(({ sequence }) => sequence))];
    expect(ids.length).toBe(3);
    expect(Math.max(...ids) - Math.min(...ids)).toBe(2);
    engine.run();
  });
});

describe("paged", () => {
  const PAGED: SchedulerLimits = { ...LIMITS, layout: "paged", cells: 1024 };

  test("one request may use all cells, and others wait until enough are free", () => {
    const engine = new FakeEngine(PAGED);
    engine.add(1, 900, 40);
    engine.step();
    engine.add(2, 200, 5);
    engine.step();
    expect([engine.scheduler.runningCount, engine.scheduler.waitingCount]).toEqual([1, 1]);
    engine.run();
    expect([engine.output(1).length, engine.output(2).length]).toEqual([40, 5]);
  });

  test("shared tokens are stored once", () => {
    const engine = new FakeEngine(PAGED);
    for (const key of [1, 2, 3]) engine.add(key, [...header, key], 30);
    while (engine.output(3).length < 2) engine.step();
    expect(engine.cells).toBeLessThan(400);
    expect(engine.prefilled).toBe(301 + 2);
    engine.run();
  });

  test("memory after the end of a sequence is given back", () => {
    const engine = new FakeEngine(PAGED);
    engine.add(1, 600, 2);
    engine.run();
    engine.add(2, 700, 2);
    engine.run();
    expect(engine.givenBack).toBeGreaterThan(0);
  });
});

test("unified: a request that continues a finished one is counted with the cells of that one", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 1024 });
  engine.add(1, 600, 2);
  engine.run();
  engine.add(2, 500, 60);
  engine.step();
  engine.add(3, [...(engine.jobs.get(1)?.tokens ?? []), 5], 60);
  engine.run();
  expect(engine.scheduler.preemptions).toBe(0);
  expect([engine.output(2).length, engine.output(3).length]).toEqual([60, 60]);
});
