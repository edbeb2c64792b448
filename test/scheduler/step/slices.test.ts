import { describe, expect, test } from "bun:test";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

describe.each(["unified", "streams", "paged"] as const)(
  "%s: prompts that are computed in slices next to streams",
  (layout) => {
    const limits = { ...LIMITS, layout, cells: layout === "streams" ? 4096 : 1024, sequences: 4, chunk: 100 };
    /** Request 1 decodes; a row takes one millisecond. */
    const streaming = (changes: Partial<typeof limits> = {}) => {
      const engine = new FakeEngine({ ...limits, stallBudgetMs: 30, ...changes });
      engine.add(1, 4, 200);
      for (let step = 0; step < 5; step++) engine.step();
      return engine;
    };
    const until = (engine: FakeEngine, done: () => boolean) => {
      for (let steps = 0; !done(); steps++) {
        if (steps > 1000) throw new Error("it does not happen");
        engine.step();
      }
    };

    test("delay the streams by no more than the stall budget between two steps, and form whole chunks", () => {
      const engine = streaming();
      engine.add(2, 450, 3);
      const before = engine.now;
      const said = engine.output(1).length;
      until(engine, () => engine.output(2).length > 0);
      // Plus one millisecond for the decode step itself.
      expect(Math.max(...engine.slices)).toBe(29);
      const gap = (engine.now - before) / (engine.output(1).length - said);
      expect(gap).toBeLessThanOrEqual(30);
      const chunks = engine.plans.filter(
        ({ rows, decodeRows }) => decodeRows === 0 && rows.some(({ key }) => key === 2),
      );
      expect(chunks.map(({ rows }) => rows.length)).toEqual([100, 100, 100, 100, 49]);
      const [last] = engine.plans.filter(({ rows, decodeRows }) => decodeRows > 0 && rows.some(({ key }) => key === 2));
      expect(last?.rows.map(({ key, sample }) => [key, sample])).toEqual([
        [1, true],
        [2, true],
      ]);
      engine.run();
      expect([1, 2].map((key) => engine.output(key).length)).toEqual([200, 3]);
    });

    test("shorten multi-step decoding", () => {
      const quarter = (decodeRows: number, prefillRows: number) => (decodeRows + prefillRows) / 4;
      const engine = new FakeEngine({ ...limits, parallel: 5, sequences: 5, stallBudgetMs: 50 }, quarter);
      engine.multiStep = true;
      const longest = (from: number) => Math.max(...engine.plans.slice(from).map(({ steps }) => steps));
      for (const key of [1, 2, 3, 4]) engine.add(key, 4, 100);
      for (let step = 0; step < 8; step++) engine.step();
      expect(longest(0)).toBeGreaterThan(12);
      const before = engine.plans.length;
      engine.add(5, 450, 3);
      until(engine, () => engine.output(5).length > 0);
      expect(longest(before)).toBeGreaterThan(1);
      expect(longest(before)).toBeLessThanOrEqual(10);
    });

    test("end before a piece that would take too long", () => {
      const engine = streaming({ stallBudgetMs: 50 });
      engine.pieceMs = 30;
      engine.add(2, 450, 1);
      const gaps: number[] = [];
      while (engine.output(2).length === 0) {
        const [before, said] = [engine.now, engine.output(1).length];
        until(engine, () => engine.output(1).length > said);
        gaps.push(engine.now - before);
      }
      expect(Math.max(...gaps)).toBeLessThanOrEqual(50);
    });

    test("are not used for a burst: several short prompts are computed together, in full batches", () => {
      const engine = streaming({ parallel: 4, stallBudgetMs: 60 });
      for (const key of [2, 3, 4]) engine.add(key, 40, 3);
      until(engine, () => [2, 3, 4].every((key) => engine.output(key).length > 0));
      expect(engine.slices).toEqual([]);
      expect(engine.plans.some(({ prefillRows }) => prefillRows > 100)).toBe(true);
    });

    test("continue in full batches once no stream decodes", () => {
      const engine = streaming();
      engine.add(2, 400, 1);
      until(engine, () => engine.slices.length > 0);
      engine.remove(1);
      engine.run();
      expect(engine.output(2).length).toBe(1);
      expect(Math.max(...engine.plans.map(({ prefillRows }) => prefillRows))).toBe(limits.batch);
      expect(engine.prefilled).toBe(4 + 400);
    });

    test("abandon a cancelled request's chunk, and compute no other prompt twice", () => {
      const engine = streaming();
      engine.add(2, 400, 1);
      until(engine, () => engine.slices.length === 1);
      engine.add(3, 150, 1);
      engine.remove(2);
      expect(engine.scheduler.kv.runningCells).toBeLessThan(20);
      until(engine, () => engine.output(3).length > 0);
      expect(engine.rowsOf(3).length).toBe(150);
      expect(engine.rowsOf(2).length).toBe(0);
    });

    test("keep a request that shares the prefix waiting for it", () => {
      const engine = streaming();
      const shared = Array.from({ length: 300 }, (_, at) => 500_000 + at);
      engine.add(2, [...shared, 7], 2);
      until(engine, () => engine.slices.length === 1);
      engine.add(3, [...shared, 8], 2);
      until(engine, () => engine.output(3).length > 0);
      expect(engine.rowsOf(3).length).toBeLessThanOrEqual(2);
      engine.run();
      expect([2, 3].map((key) => engine.output(key).length)).toEqual([2, 2]);
    });

    // llama.cpp computes sequences of the stream layout together only when their numbers are consecutive; any other
    // set takes one more pass over the weights.
    test("of several prompts are in the order of their sequences, whichever prompt was first", () => {
      const engine = streaming({ sequences: 3 });
      engine.add(9, 4, 200);
      until(engine, () => engine.output(9).length > 0);
      engine.add(2, 450, 1);
      until(engine, () => engine.rowsOf(2).length === 300);
      // Its sequence lies between those of the stream and the first prompt.
      engine.remove(9);
      engine.add(3, 30, 1);
      engine.run();
      const chunk = engine.plans.find(
        ({ rows }) => rows.every(({ sample }) => !sample) && rows[0]?.key !== rows.at(-1)?.key,
      );
      expect(chunk?.rows.map(({ key }) => key)).toEqual([...Array(29).fill(3), ...Array(49).fill(2)]);
    });

    test("do not keep a short prompt waiting for all of a long one", () => {
      const engine = streaming();
      engine.add(2, 600, 1);
      until(engine, () => engine.slices.length === 1);
      engine.add(3, 10, 1);
      until(engine, () => engine.output(3).length > 0);
      expect(engine.output(2).length).toBe(0);
      // The rest of one chunk, one chunk of its own, and a few steps.
      expect(engine.now - (engine.jobs.get(3)?.addedAt ?? 0)).toBeLessThan(130);
    });
  },
);

test("a full cache drops the chunk of the newest request, which is computed again later", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 256, chunk: 64, stallBudgetMs: 10 });
  engine.add(1, 90, 120);
  for (let step = 0; step < 10; step++) engine.step();
  engine.add(2, 100, 30);
  engine.run();
  expect([1, 2].map((key) => engine.output(key).length)).toEqual([120, 30]);
});

test("a short prompt is computed within the streams' own steps", () => {
  const engine = new FakeEngine({ ...LIMITS, chunk: 128, stallBudgetMs: 50 }, () => 1);
  engine.add(1, 10, 200);
  for (let step = 0; step < 5; step++) engine.step();
  engine.add(2, 60, 3);
  while (engine.output(2).length === 0) engine.step();
  expect(engine.slices).toEqual([]);
});
