// Requests that continue when their context is full: older tokens are dropped, and the rest is computed again.

import { describe, expect, test } from "bun:test";
import { FakeEngine, LIMITS } from "./fake-engine.ts";

const ROOM = 64;

/** Returns the output of a model that sees, at every token, the context that remains after shifting. */
function expected(engine: FakeEngine, prompt: readonly number[], count: number, keep: number): number[] {
  const context = [...prompt];
  const said: number[] = [];
  while (said.length < count) {
    const token = engine.next(context);
    said.push(token);
    context.push(token);
    if (context.length === ROOM) context.splice(keep, Math.floor((ROOM - keep) / 2));
  }
  return said;
}

const prompt = (key: number, length: number) => Array.from({ length }, (_, at) => key * 10_000 + at);

describe("a full context", () => {
  test.each([
    ["is made room in, over and over", {}, {}],
    ["of a model whose state cannot be trimmed", { canTrim: false }, {}],
    ["in regions with pages", { layout: "paged" as const }, {}],
    ["in regions of their own", { layout: "streams" as const, sequences: 4, cells: 4 * ROOM }, {}],
    ["with several steps at a time", {}, { multiStep: true }],
    ["without a prefix cache", { reuse: false }, {}],
  ])("%s", (_, limits, marks) => {
    const engine = new FakeEngine({ ...LIMITS, ...limits });
    Object.assign(engine, marks);
    const asked = [
      { key: 1, length: 10, count: 300, keep: 1 },
      { key: 2, length: 63, count: 100, keep: 20 },
      { key: 3, length: 30, count: 5, keep: 1 },
      // At most all but four tokens can be kept.
      { key: 4, length: 62, count: 40, keep: 1000 },
    ];
    for (const { key, length, count, keep } of asked)
      engine.add(key, prompt(key, length), count, "", { shift: { room: ROOM, keep } });
    engine.run();
    for (const { key, length, count, keep } of asked) {
      const told = expected(engine, prompt(key, length), count, Math.min(keep, ROOM - 4));
      expect(engine.output(key)).toEqual(told);
    }
    const rows = engine.plans.flatMap((plan) => plan.rows);
    expect(Math.max(...rows.map(({ position }) => position))).toBeLessThan(ROOM);
    expect(engine.scheduler.kv.runningCells).toBe(0);
  });

  test("keeps tokens that other requests share with the dropped ones", () => {
    const engine = new FakeEngine({ ...LIMITS, layout: "paged" });
    const shift = { room: ROOM, keep: 1 };
    engine.add(1, prompt(1, 40), 60, "", { shift });
    while (engine.output(1).length < 3) engine.step();
    engine.add(2, [...prompt(1, 40), 7], 60, "", { shift });
    engine.run();
    expect(engine.cached.get(2)).toBe(40);
    expect(engine.output(1)).toEqual(expected(engine, prompt(1, 40), 60, 1));
    expect(engine.output(2)).toEqual(expected(engine, [...prompt(1, 40), 7], 60, 1));
  });

  test("without context shift ends the request at its limit; the last token needs no cell", () => {
    const engine = new FakeEngine();
    engine.add(1, prompt(1, 60), 4);
    engine.add(2, prompt(2, 60), 4, "", { shift: { room: ROOM, keep: 1 } });
    engine.run();
    expect([engine.output(1).length, engine.output(2).length]).toEqual([4, 4]);
    const rows = (key: number) => engine.rowsOf(key).length;
    expect(rows(1)).toBe(rows(2));
  });

  test("costs one prompt of half the context per half context of output, when the state can be trimmed", () => {
    const engine = new FakeEngine({ ...LIMITS, parallel: 1 });
    engine.add(1, prompt(1, 10), 500, "", { shift: { room: ROOM, keep: 1 } });
    engine.run();
    expect(engine.prefilled / 500).toBeLessThan(1.2);
  });

  test("allows speculative tokens, from a draft model as well, based on the remaining tokens", () => {
    const engine = new FakeEngine({ ...LIMITS, draftMax: 4 });
    engine.draftMs = 0.1;
    // The same 20 tokens repeat.
    engine.next = (tokens) => tokens[tokens.length - 20] ?? 0;
    engine.drafted = engine.next;
    const tokens = prompt(1, 30);
    engine.add(1, tokens, 400, "", { speculate: true, shift: { room: ROOM, keep: 1 } });
    engine.run();
    expect(engine.output(1)).toEqual(expected(engine, tokens, 400, 1));
    const { ngram, draft } = engine.scheduler.speculated;
    const accepted = [...ngram.accepted, ...draft.accepted].reduce((sum, count) => sum + count, 0);
    // More tokens than fitted before the first shift.
    expect(accepted).toBeGreaterThan(ROOM);
  });
});
