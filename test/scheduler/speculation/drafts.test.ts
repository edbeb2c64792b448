import { describe, expect, test } from "bun:test";
import { acceptedTokens } from "../../../src/domain/speculation.ts";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

describe("streams with a draft model", () => {
  const DRAFTS = { ...LIMITS, draftMax: 6, cells: 4096 };
  /** Steps are expensive, speculative tokens and drafts are cheap. */
  const start = (limits: Partial<typeof DRAFTS> = {}) => {
    const engine = new FakeEngine({ ...DRAFTS, ...limits }, (_decode, prefill) => 100 + prefill);
    engine.draftMs = 2;
    return engine;
  };
  const add = (engine: FakeEngine, keys: number, maxTokens = 100) => {
    for (let key = 1; key <= keys; key++) engine.add(key, 40, maxTokens, "", { speculate: true });
  };
  const plain = (keys: number, maxTokens = 100) => {
    const engine = start({ draftMax: 0 });
    add(engine, keys, maxTokens);
    engine.run();
    return engine;
  };

  test.each([1, 2, 4])("%d: give the same output in fewer steps", (keys) => {
    const [without, engine] = [plain(keys), start()];
    add(engine, keys);
    engine.run();
    for (let key = 1; key <= keys; key++) expect(engine.output(key)).toEqual(without.output(key));
    expect(engine.plans.length).toBeLessThan(without.plans.length / 3);
    const { draft, ngram } = engine.scheduler.speculated;
    expect(acceptedTokens(draft)).toBe(draft.tokens);
    expect(draft.accepted[0]).toBe(draft.drafts);
    expect(ngram.drafts).toBe(0);
  });

  test("are unaffected by partly rejected drafts", () => {
    const [without, engine] = [plain(3), start()];
    engine.drafted = (tokens) => engine.next(tokens) + Number(tokens.length % 5 === 0);
    add(engine, 3);
    engine.run();
    for (const key of [1, 2, 3]) expect(engine.output(key)).toEqual(without.output(key));
    const { draft } = engine.scheduler.speculated;
    expect(acceptedTokens(draft)).toBeGreaterThan(0);
    expect(acceptedTokens(draft)).toBeLessThan(draft.tokens);
  });

  test("hardly use a draft model whose tokens are never accepted", () => {
    const engine = start();
    engine.drafted = () => 5;
    add(engine, 1, 1000);
    engine.run();
    expect(engine.scheduler.speculated.draft.tokens).toBeLessThan(60);
    expect(engine.drafts).toBeLessThan(60);
  });

  test("hardly use a draft model as slow as the model, however many of its tokens are accepted", () => {
    const engine = start();
    engine.draftMs = 100;
    add(engine, 1, 1000);
    engine.run();
    expect(engine.scheduler.speculated.draft.tokens).toBeLessThan(60);
  });

  test("always use as many drafts as allowed when the gate is off", () => {
    const engine = start({ draftAdaptive: false });
    engine.drafted = () => 5;
    add(engine, 1, 100);
    engine.run();
    expect(engine.scheduler.speculated.draft.tokens).toBeGreaterThan(500);
    expect(engine.output(1)).toEqual(plain(1).output(1));
  });

  test("use prompt lookup instead of drafts for repeated text", () => {
    const engine = start();
    engine.next = (tokens) => (tokens.length * 7) % 11;
    engine.add(
      1,
      [...Array(40).keys()].map((at) => (at * 7) % 11),
      200,
      "",
      { speculate: true },
    );
    engine.run();
    const { draft, ngram } = engine.scheduler.speculated;
    expect(acceptedTokens(ngram)).toBeGreaterThan(5 * draft.tokens);
  });

  test("feed a long prompt to the draft model in pieces of the stall budget", () => {
    const engine = start({ cells: 8192 });
    engine.feedMs = 1;
    engine.add(1, 3000, 400, "", { speculate: true });
    engine.run();
    expect(engine.largestFeed).toBeLessThanOrEqual(Math.max(64, LIMITS.stallBudgetMs));
    expect(acceptedTokens(engine.scheduler.speculated.draft)).toBeGreaterThan(100);
  });

  test("do not feed a long prompt for a short answer", () => {
    const engine = start({ cells: 8192 });
    engine.feedMs = 10;
    for (let key = 1; key <= 8; key++) {
      engine.add(key, 2000, 4, "", { speculate: true });
      engine.run();
    }
    expect(engine.fed).toBeLessThan(500);
  });

  test("leave requests without speculation alone", () => {
    const engine = start();
    engine.add(1, 40, 50);
    engine.run();
    expect(engine.drafts).toBe(0);
  });

  test("start over with cancelled, preempted and reused sequences", () => {
    const engine = start({ cells: 256, parallel: 3, sequences: 4 });
    for (let key = 1; key <= 12; key++) engine.add(key, 50 + key, 60, `client ${key % 2}`, { speculate: true });
    for (let steps = 0; steps < 20; steps++) engine.step();
    engine.disconnect(1);
    engine.run();
    expect(engine.scheduler.preemptions).toBeGreaterThan(0);
    const without = start({ draftMax: 0, cells: 4096, parallel: 3 });
    for (let key = 1; key <= 12; key++) without.add(key, 50 + key, 60, "", { speculate: true });
    without.run();
    for (let key = 2; key <= 12; key++) expect(engine.output(key)).toEqual(without.output(key));
  });

  test("do not use a draft model again whose cache is full", () => {
    const engine = start();
    engine.draftCells = 60;
    add(engine, 2);
    engine.run();
    for (const key of [1, 2]) expect(engine.output(key)).toEqual(plain(2).output(key));
    expect(engine.drafts).toBeLessThan(20);
    engine.add(3, 20, 20, "", { speculate: true });
    engine.run();
    expect(engine.output(3).length).toBe(20);
  });
});
