import { expect, test } from "bun:test";
import { SpeechFinder } from "../../../src/service/live/speech-finder.ts";

/** Where speech and the silence behind it began after each frame, which are numbered. */
function found(probabilities: readonly number[], threshold = 0.5) {
  const finder = new SpeechFinder();
  return probabilities.map((probability, at) => {
    finder.push(probability, at, threshold);
    return [finder.since, finder.quietSince];
  });
}

test("three frames of speech are some, from the first of them; a click is none", () => {
  expect(found([0.1, 0.9, 0.9, 0.9]).at(-1)).toEqual([1, undefined]);
  expect(found([0.9, 0.9, 0.1, 0.9, 0.9, 0.1]).every(([since]) => since === undefined)).toBe(true);
  expect(found([0.9, 0.9, 0.49, 0.9, 0.9, 0.9]).at(-1)).toEqual([3, undefined]);
});

test("silence begins clearly below the threshold, and ends at it", () => {
  const spoken = [0.9, 0.9, 0.9];
  expect(found([...spoken, 0.4]).at(-1)).toEqual([0, undefined]);
  expect(found([...spoken, 0.3]).at(-1)).toEqual([0, 3]);
  expect(found([...spoken, 0.3, 0.1, 0.45]).at(-1)).toEqual([0, 3]);
  expect(found([...spoken, 0.3, 0.1, 0.5]).at(-1)).toEqual([0, undefined]);
  // Nothing is below a threshold that is almost 0 but silence itself.
  expect(found([...spoken, 0.005], 0.05).at(-1)).toEqual([0, 3]);
});
