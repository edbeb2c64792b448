import { describe, expect, test } from "bun:test";
import { noSpeculation, acceptedTokens } from "../../../src/domain/speculation.ts";
import { Sequence } from "../../../src/scheduler/sequence.ts";
import { SpeculationCost } from "../../../src/scheduler/speculation/cost.ts";
import { PromptLookup } from "../../../src/scheduler/speculation/prompt-lookup.ts";
import { FakeEngine, LIMITS } from "../fake-engine.ts";

const sequence = (...tokens: number[]) =>
  new Sequence({ key: 1, prompt: Int32Array.from(tokens), maxTokens: 100, speculate: true }, 0);

/** Returns prompt lookup for steps of 100 ms, plus `tokenMs` for each speculative token. */
function lookup(tokenMs: number) {
  const cost = new SpeculationCost();
  cost.recordStep(1, 0, 100);
  for (const tokens of [1, 2, 4, 8, 16]) cost.recordStep(1, tokens, 100 + tokens * tokenMs);
  return new PromptLookup(cost);
}
const next = (said: Sequence, limit = 99, tokenMs = 1) => [...lookup(tokenMs).next(said, 1, limit)];

describe("the result of prompt lookup", () => {
  test("is the text after the longest match, and after the last of equal matches", () => {
    const rest = [80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95];
    expect(next(sequence(1, 2, 3, 70, 71, 9, 1, 2, 3, ...rest, 8, 1, 2, 3)).slice(0, 4)).toEqual(rest.slice(0, 4));
    expect(next(sequence(7, 1, 2, 3, ...rest, 9, 1, 2, 3, 50, 51, 7, 1, 2, 3)).slice(0, 4)).toEqual(rest.slice(0, 4));
    expect(next(sequence(1, 2, 3, ...rest, 1, 2, 3), 2)).toEqual([80, 81]);
    expect(next(sequence(1, 2, 3, ...rest, 1, 2, 3), 1)).toEqual([80]);
  });

  test("repeats when the answer does", () => {
    const round = next(sequence(5, 9, 4, 4, 4, 4, 4));
    expect(round.length).toBeGreaterThan(3);
    expect(new Set(round)).toEqual(new Set([4]));
    expect(next(sequence(9, 1, 2, 1, 2, 1, 2)).slice(0, 5)).toEqual([1, 2, 1, 2, 1]);
  });

  test("is empty without a match, or with a limit of 0", () => {
    expect(next(sequence(1, 2, 3, 4, 5))).toEqual([]);
    // Two of three tokens match.
    expect(next(sequence(8, 2, 3, 70, 1, 9, 3, 71, 1, 2, 9, 72, 1, 2, 3))).toEqual([]);
    expect(next(sequence(1, 2, 3, 4, 1, 2, 3), 0)).toEqual([]);
    expect(next(sequence(1, 2))).toEqual([]);
  });

  test("never contains a medium", () => {
    expect(next(sequence(1, 2, 3, 4, -7, -7, 5, 1, 2, 3))).toEqual([4]);
    expect(next(sequence(1, 2, 3, -7, -7, 5, 1, 2, 3))).toEqual([]);
  });

  test("is as long as it pays: longer when likelier, and empty when each token costs a step", () => {
    const [short, long] = [sequence(1, 2, 3, 70, 1, 2, 3), sequence(...Array(30).keys(), ...Array(20).keys())];
    const looked = lookup(20);
    const first = looked.next(short, 1, 99).length;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(8);
    for (let series = 0; series < 20; series++) {
      looked.next(long, 1, 99);
      looked.record(long, 4, 4);
      looked.next(short, 1, 99);
      looked.record(short, 4, 0);
    }
    expect(looked.next(long, 1, 99).length).toBeGreaterThan(8);
    expect(looked.next(short, 1, 99).length).toBe(0);
    expect(next(long, 99, 100)).toEqual([]);
  });

  test("is empty until a step was measured", () => {
    expect([...new PromptLookup(new SpeculationCost()).next(sequence(4, 4, 4, 4, 4), 1, 99)]).toEqual([]);
  });
});

describe("a stream with prompt lookup", () => {
  /** Returns a model that repeats the numbers up to `period`; every 17th token differs. */
  const repeating = (period: number) => (tokens: readonly number[]) =>
    tokens.length % 17 === 0 ? 900 + (tokens.length % 5) : (tokens.length * 7) % period;

  const steps = (speculate: boolean, limits = LIMITS, keys = 1) => {
    const engine = new FakeEngine({ ...limits, cells: 4096 });
    engine.next = repeating(11);
    for (let key = 1; key <= keys; key++)
      engine.add(
        key,
        Array.from({ length: 40 }, (_, at) => (at * 7) % 11),
        200,
        "",
        { speculate },
      );
    engine.run();
    return engine;
  };

  test.each(["unified", "streams", "paged"] as const)("%s: gives the same output in fewer steps", (layout) => {
    const limits = { ...LIMITS, layout, sequences: 4 };
    const [plain, speculating] = [steps(false, limits), steps(true, limits)];
    expect(speculating.output(1)).toEqual(plain.output(1));
    expect(speculating.output(1).length).toBe(200);
    expect(speculating.plans.length).toBeLessThan(plain.plans.length / 2);
    const { ngram, draft } = speculating.scheduler.speculated;
    const accepted = acceptedTokens(ngram);
    expect(accepted).toBeGreaterThan(100);
    expect(accepted).toBeLessThan(ngram.tokens);
    expect(draft.drafts).toBe(0);
    expect(plain.scheduler.speculated).toEqual(noSpeculation());
  });

  test("leaves no rejected token in the cache for later requests", () => {
    const engine = steps(true);
    expect(engine.scheduler.kv.idleCells).toBe(engine.cells);
    engine.add(2, [...(engine.jobs.get(1)?.tokens ?? [])], 20, "", { speculate: true });
    engine.run();
    expect(engine.cached.get(2)).toBe(239);
    expect(engine.output(2).length).toBe(20);
  });

  test("gives the right output next to other streams", () => {
    const engine = steps(true, LIMITS, 4);
    for (const key of [1, 2, 3, 4]) expect(engine.output(key)).toEqual(engine.output(1));
  });

  test("does not speculate while a prompt is computed, or next to many streams", () => {
    const engine = steps(true, { ...LIMITS, parallel: 8 }, 8);
    const full = engine.plans.filter(({ decodeRows, prefillRows }) => decodeRows > 4 || prefillRows > 0);
    expect(full.length).toBeGreaterThan(0);
    expect(full.every(({ speculativeRows }) => speculativeRows === 0)).toBe(true);
  });
});
