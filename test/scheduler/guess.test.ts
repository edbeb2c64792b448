import { describe, expect, test } from "bun:test";
import { noGuesses, rightOf } from "../../src/domain/guesses.ts";
import { Guesses } from "../../src/scheduler/guess.ts";
import { Sequence } from "../../src/scheduler/sequence.ts";
import { FakeEngine, LIMITS } from "./fake-engine.ts";

const sequence = (...tokens: number[]) =>
  new Sequence({ key: 1, prompt: Int32Array.from(tokens), maxTokens: 100, guess: true }, 0);

describe("a guess", () => {
  test("is what followed the same three tokens last", () => {
    const said = sequence(1, 2, 3, 70, 71, 9, 1, 2, 3, 80, 81, 82, 83, 84, 9, 1, 2, 3);
    expect([...new Guesses().next(said, 10)]).toEqual([80, 81, 82, 83]);
    expect([...new Guesses().next(said, 3)]).toEqual([80, 81, 82]);
  });

  test("is nothing where there is no such place, or no room", () => {
    expect([...new Guesses().next(sequence(1, 2, 3, 4, 5), 10)]).toEqual([]);
    expect([...new Guesses().next(sequence(1, 2, 3, 4, 1, 2, 3), 1)]).toEqual([]);
    expect([...new Guesses().next(sequence(1, 2), 10)]).toEqual([]);
  });

  test("grows while it is right, and pauses after it was wrong", () => {
    const guesses = new Guesses();
    const ids = [...Array(40).keys(), 0, 1, 2];
    expect(guesses.next(sequence(...ids), 99).length).toBe(4);
    guesses.learn(4, 4, ids.length);
    expect(guesses.next(sequence(...ids), 99).length).toBe(8);
    guesses.learn(8, 0, ids.length);
    expect(guesses.next(sequence(...ids), 99).length).toBe(0);
    expect(guesses.next(sequence(...Array(10).keys(), ...ids), 99).length).toBeGreaterThan(0);
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
