import { expect, test } from "bun:test";
import { SpeechFinder } from "../../../src/service/live/speech-finder.ts";

/** Returns where speech and the following silence began, after each frame; frames are numbered. */
function found(probabilities: readonly number[], threshold = 0.5) {
  const finder = new SpeechFinder();
  return probabilities.map((probability, at) => {
    finder.push(probability, at, threshold);
    return [finder.since, finder.quietSince];
  });
}

test("three consecutive frames of speech count as speech from the first on; a click does not", () => {
  expect(found([0.1, 0.9, 0.9, 0.9]).at(-1)).toEqual([1, undefined]);
  expect(found([0.9, 0.9, 0.1, 0.9, 0.9, 0.1]).every(([since]) => since === undefined)).toBe(true);
  expect(found([0.9, 0.9, 0.49, 0.9, 0.9, 0.9]).at(-1)).toEqual([3, undefined]);
});

test("silence begins clearly below the threshold and ends at the threshold", () => {
  const spoken = [0.9, 0.9, 0.9];
  expect(found([...spoken, 0.4]).at(-1)).toEqual([0, undefined]);
  expect(found([...spoken, 0.3]).at(-1)).toEqual([0, 3]);
  expect(found([...spoken, 0.3, 0.1, 0.45]).at(-1)).toEqual([0, 3]);
  expect(found([...spoken, 0.3, 0.1, 0.5]).at(-1)).toEqual([0, undefined]);
  // With a threshold near 0, only silence itself counts as silence.
  expect(found([...spoken, 0.005], 0.05).at(-1)).toEqual([0, 3]);
});
