import { describe, expect, test } from "bun:test";
import { noGuesses, rightOf } from "../../src/domain/guesses.ts";
import { GuessCost } from "../../src/scheduler/guess-cost.ts";
import { PromptLookup } from "../../src/scheduler/prompt-lookup.ts";
import { Sequence } from "../../src/scheduler/sequence.ts";
import { FakeEngine, LIMITS } from "./fake-engine.ts";

const sequence = (...tokens: number[]) =>
  new Sequence({ key: 1, prompt: Int32Array.from(tokens), maxTokens: 100, guess: true }, 0);

/** Steps of 100 ms, and guesses that add so many to them. */
function lookup(guessMs: number) {
  const cost = new GuessCost();
  cost.recordStep(1, 0, 100);
  for (const guesses of [1, 2, 4, 8, 16]) cost.recordStep(1, guesses, 100 + guesses * guessMs);
  return new PromptLookup(cost);
}
const guess = (said: Sequence, room = 99, guessMs = 1) => [...lookup(guessMs).next(said, 1, room)];

describe("a guess", () => {
  test("is what followed the same tokens, the last place of those with most of them", () => {
    const rest = [80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95];
    expect(guess(sequence(1, 2, 3, 70, 71, 9, 1, 2, 3, ...rest, 8, 1, 2, 3)).slice(0, 4)).toEqual(rest.slice(0, 4));
    expect(guess(sequence(7, 1, 2, 3, ...rest, 9, 1, 2, 3, 50, 51, 7, 1, 2, 3)).slice(0, 4)).toEqual(rest.slice(0, 4));
    expect(guess(sequence(1, 2, 3, ...rest, 1, 2, 3), 2)).toEqual([80, 81]);
    expect(guess(sequence(1, 2, 3, ...rest, 1, 2, 3), 1)).toEqual([80]);
  });

  test("goes round where the answer does", () => {
    const round = guess(sequence(5, 9, 4, 4, 4, 4, 4));
    expect(round.length).toBeGreaterThan(3);
    expect(new Set(round)).toEqual(new Set([4]));
    expect(guess(sequence(9, 1, 2, 1, 2, 1, 2)).slice(0, 5)).toEqual([1, 2, 1, 2, 1]);
  });

  test("is nothing where there is no such place, or no room", () => {
    expect(guess(sequence(1, 2, 3, 4, 5))).toEqual([]);
    // Two of three tokens are alike.
    expect(guess(sequence(8, 2, 3, 70, 1, 9, 3, 71, 1, 2, 9, 72, 1, 2, 3))).toEqual([]);
    expect(guess(sequence(1, 2, 3, 4, 1, 2, 3), 0)).toEqual([]);
    expect(guess(sequence(1, 2))).toEqual([]);
  });

  test("is never a medium", () => {
    expect(guess(sequence(1, 2, 3, 4, -7, -7, 5, 1, 2, 3))).toEqual([4]);
    expect(guess(sequence(1, 2, 3, -7, -7, 5, 1, 2, 3))).toEqual([]);
  });

  test("is as long as pays: the likelier the longer, and nothing where each costs a step", () => {
    const [short, long] = [sequence(1, 2, 3, 70, 1, 2, 3), sequence(...Array(30).keys(), ...Array(20).keys())];
    const guesses = lookup(20);
    const first = guesses.next(short, 1, 99).length;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(8);
    for (let series = 0; series < 20; series++) {
      guesses.next(long, 1, 99);
      guesses.learn(long, 4, 4);
      guesses.next(short, 1, 99);
      guesses.learn(short, 4, 0);
    }
    expect(guesses.next(long, 1, 99).length).toBeGreaterThan(8);
    expect(guesses.next(short, 1, 99).length).toBe(0);
    expect(guess(long, 99, 100)).toEqual([]);
  });

  test("waits until a step was measured", () => {
    expect([...new PromptLookup(new GuessCost()).next(sequence(4, 4, 4, 4, 4), 1, 99)]).toEqual([]);
  });
});

describe("a stream whose next tokens are guessed", () => {
  /** Says the numbers up to `period` again and again; every 17th token is another. */
  const repeating = (period: number) => (tokens: readonly number[]) =>
    tokens.length % 17 === 0 ? 900 + (tokens.length % 5) : (tokens.length * 7) % period;

  const steps = (guess: boolean, limits = LIMITS, keys = 1) => {
    const engine = new FakeEngine({ ...limits, cells: 4096 });
    engine.next = repeating(11);
    for (let key = 1; key <= keys; key++)
      engine.add(
        key,
        Array.from({ length: 40 }, (_, at) => (at * 7) % 11),
        200,
        "",
        { guess },
      );
    engine.run();
    return engine;
  };

  test.each(["unified", "streams"] as const)("%s: says the same in fewer steps", (layout) => {
    const limits = { ...LIMITS, layout, sequences: 4 };
    const [plain, guessing] = [steps(false, limits), steps(true, limits)];
    expect(guessing.output(1)).toEqual(plain.output(1));
    expect(guessing.output(1).length).toBe(200);
    expect(guessing.plans.length).toBeLessThan(plain.plans.length / 2);
    const { ngram, draft } = guessing.scheduler.guesses;
    const right = rightOf(ngram);
    expect(right).toBeGreaterThan(100);
    expect(right).toBeLessThan(ngram.tokens);
    expect(draft.drafts).toBe(0);
    expect(plain.scheduler.guesses).toEqual(noGuesses());
  });

  test("leaves no wrong guess in the cache for later requests", () => {
    const engine = steps(true);
    expect(engine.scheduler.cellsCached).toBe(engine.cells);
    engine.add(2, [...(engine.jobs.get(1)?.tokens ?? [])], 20, "", { guess: true });
    engine.run();
    expect(engine.cached.get(2)).toBe(239);
    expect(engine.output(2).length).toBe(20);
  });

  test("several streams at once are all right", () => {
    const engine = steps(true, LIMITS, 4);
    for (const key of [1, 2, 3, 4]) expect(engine.output(key)).toEqual(engine.output(1));
  });

  test("nothing is guessed while somebody's prompt is computed, nor for many streams", () => {
    const engine = steps(true, { ...LIMITS, parallel: 8 }, 8);
    const crowded = engine.plans.filter(({ decodeRows, prefillRows }) => decodeRows > 4 || prefillRows > 0);
    expect(crowded.length).toBeGreaterThan(0);
    expect(crowded.every(({ guessRows }) => guessRows === 0)).toBe(true);
  });
});
