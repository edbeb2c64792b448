// Decoding text from the steps of the model's output.

import { expect, test } from "bun:test";
import { decodeSteps } from "../../src/recognition/ctc.ts";

const CHARACTERS = ["blank", "a", "b", " "];

/** Returns a step for each letter, `.` for none, all with this probability. */
function steps(text: string, probability = 0.75): Float32Array {
  return Float32Array.from(
    [...text].flatMap((letter) => {
      const best = letter === "." ? 0 : CHARACTERS.indexOf(letter);
      return CHARACTERS.map((_, at) => (at === best ? probability : 0));
    }),
  );
}

const texts = (said: string) => decodeSteps(steps(said), CHARACTERS).map(({ text }) => text);

test("a character over several steps is one, and a gap between two makes them two", () => {
  expect(texts("aa.bb")).toEqual(["ab"]);
  expect(texts("a.a")).toEqual(["aa"]);
  expect(texts("....")).toEqual([]);
  expect(texts("")).toEqual([]);
});

test("spaces separate words, whose boxes reach halfway into the gap and whose confidence is the mean", () => {
  expect(decodeSteps(steps("a..b. .b..."), CHARACTERS)).toEqual([
    { text: "ab", confidence: 0.75, from: 0, to: 4.5 },
    { text: "b", confidence: 0.75, from: 6.5, to: 11 },
  ]);
});

test("spaces at the ends of a line and repeated spaces create no words", () => {
  expect(texts(" .a. . .b. ")).toEqual(["a", "b"]);
});
