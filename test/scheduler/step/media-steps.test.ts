// Images and sound in the KV cache, computed in pieces between the steps of streams.

import { describe, expect, test } from "bun:test";
import type { AdapterSet } from "../../../src/domain/adapters.ts";
import { FakeEngine, LIMITS, type Cost } from "../fake-engine.ts";

const A = [{ id: 0, scale: 1 }];
const B = [{ id: 1, scale: 1 }];
const cost: Cost = (decodeRows, prefillRows) => 5 + decodeRows + prefillRows * 0.5;
const limits = { ...LIMITS, cells: 8192, parallel: 6 };

/** Adds a question about a medium of this many tokens. */
function addMedium(
  engine: FakeEngine,
  key: number,
  tokens: number,
  options: { whole?: boolean; set?: AdapterSet } = {},
) {
  const { whole = false, set = [] } = options;
  const media = [{ start: 5, tokens, positions: tokens, whole }];
  engine.add(key, tokens + 10, 3, `client ${key}`, { adapters: set, media });
}

describe.each([0, 64])("next to streams, with pausable chunks of %d", (chunk) => {
  const streaming = (sets: readonly AdapterSet[]) => {
    const engine = new FakeEngine({ ...limits, chunk }, cost);
    sets.forEach((set, at) => engine.add(at + 1, 10, 300, `client ${at}`, { adapters: set }));
    while (sets.some((_, at) => engine.output(at + 1).length < 10)) engine.step();
    return engine;
  };

  test("a medium is computed in pieces that fit the stall budget", () => {
    const engine = streaming([[]]);
    addMedium(engine, 10, 600);
    engine.run();
    expect(engine.pieces.length).toBeGreaterThan(5);
    expect(engine.longestGap(1)).toBeLessThanOrEqual(1.2 * LIMITS.stallBudgetMs);
    expect(engine.output(10).length).toBe(3);
  });

  test("a stream waits for at most one piece between two tokens, whatever adapter sets run", () => {
    const engine = streaming([[], A, B]);
    for (const [at, set] of [[], A, B].entries()) addMedium(engine, 10 + at, 600, { set });
    engine.run();
    const steps = 3 * cost(1, 0, 0, 0);
    for (const key of [1, 2, 3])
      expect(engine.longestGap(key)).toBeLessThanOrEqual(1.2 * (LIMITS.stallBudgetMs + steps));
  });

  test("media that cannot be split are computed one at a time, with prompts in between", () => {
    const engine = streaming([[], A]);
    for (const key of [10, 11]) addMedium(engine, key, 120, { whole: true });
    engine.add(20, 400, 3, "reader");
    engine.run();
    expect(engine.pieces.map(({ count }) => count)).toEqual([120, 120]);
    const most = cost(0, 120, 0, 0) + 2 * cost(1, 0, 0, 0) + LIMITS.stallBudgetMs;
    for (const key of [1, 2]) expect(engine.longestGap(key)).toBeLessThanOrEqual(most);
    expect([10, 11, 20].map((key) => engine.output(key).length)).toEqual([3, 3, 3]);
  });
});

test("without a decoding stream, a medium is computed in full batches, in turns with prompts", () => {
  const engine = new FakeEngine(limits, cost);
  addMedium(engine, 1, 600);
  engine.add(2, 1000, 3, "reader");
  while (engine.pieces.length < 5) engine.step();
  expect(engine.pieces.map(({ count }) => count)).toEqual([128, 128, 128, 128, 88]);
  expect(engine.rowsOf(2).length).toBe(4 * 128);
  engine.run();
  expect([1, 2].map((key) => engine.output(key).length)).toEqual([3, 3]);
});

test("a background medium waits for other requests, even when it has begun", () => {
  const engine = new FakeEngine(limits, cost);
  const media = [{ start: 5, tokens: 300, positions: 300, whole: false }];
  engine.add(1, 310, 3, "batch", { media, background: true });
  while (engine.pieces.length === 0) engine.step();
  addMedium(engine, 2, 600);
  engine.run();
  const keys = engine.pieces.map(({ key }) => key);
  expect(keys.slice(keys.indexOf(2)).slice(0, 5)).toEqual([2, 2, 2, 2, 2]);
  expect(keys.at(-1)).toBe(1);
});

test("a later turn reuses a medium that it shares, and computes one that differs", () => {
  const engine = new FakeEngine(limits, cost);
  const media = [{ start: 60, tokens: 20, positions: 20, whole: false }];
  const text = (count: number, from: number) => Array.from({ length: count }, (_, at) => from + at);
  const image = (id: number, count: number) => Array.from({ length: count }, () => -id);
  const ask = (key: number, prompt: readonly number[]) => {
    const [before, pieces] = [engine.prefilled, engine.pieces.length];
    engine.add(key, prompt, 1, "", { media });
    while (engine.output(key).length === 0) engine.step();
    return { text: engine.prefilled - before, pieces: engine.pieces.length - pieces };
  };
  const first = [...text(60, 100), ...image(7, 20), ...text(60, 200)];
  ask(1, first);
  expect(ask(2, [...first, ...text(10, 300)])).toEqual({ text: 10, pieces: 0 });
  // Its first half is the same, but half a medium cannot be reused.
  const other = [...text(60, 100), ...image(7, 10), ...image(8, 10), ...text(60, 200)];
  const { pieces, text: computed } = ask(3, other);
  expect([pieces > 0, computed]).toEqual([true, 20 + 60]);
});
