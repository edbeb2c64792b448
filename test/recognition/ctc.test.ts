// Text out of steps.

import { expect, test } from "bun:test";
import { decodeSteps } from "../../src/recognition/ctc.ts";

const CHARACTERS = ["blank", "a", "b", " "];

/** A step for each letter, `.` for none, all with this probability. */
function steps(text: string, probability = 0.75): Float32Array {
  return Float32Array.from(
    [...text].flatMap((letter) => {
      const best = letter === "." ? 0 : CHARACTERS.indexOf(letter);
      return CHARACTERS.map((_, at) => (at === best ? probability : 0));
    }),
  );
}

const texts = (said: string) => decodeSteps(steps(said), CHARACTERS).map(({ text }) => text);

test("a character of several steps is one, and one with nothing between is two", () => {
  expect(texts("aa.bb")).toEqual(["ab"]);
  expect(texts("a.a")).toEqual(["aa"]);
  expect(texts("....")).toEqual([]);
  expect(texts("")).toEqual([]);
});

test("spaces part words, which have the steps up to halfway between and the mean of what is certain", () => {
  expect(decodeSteps(steps("a..b. .b..."), CHARACTERS)).toEqual([
    { text: "ab", confidence: 0.75, from: 0, to: 4.5 },
    { text: "b", confidence: 0.75, from: 6.5, to: 11 },
  ]);
});

test("spaces at the ends of a line and in a row part nothing", () => {
  expect(texts(" .a. . .b. ")).toEqual(["a", "b"]);
});
