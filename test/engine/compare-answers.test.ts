// What counts as the same greedy answer.

import { expect, test } from "bun:test";
import { compareAnswers, type GreedyAnswer } from "../support/same-answer.ts";

/** An answer of one-letter tokens, each with this margin over its rival. */
const answer = (text: string, { margin = 1, whole = true } = {}): GreedyAnswer => ({
  tokens: [...text].map((token) => ({ token, top: [-0.1, -0.1 - margin] })),
  whole,
});

test("equal texts are the same, and so is the beginning of one that was cut", () => {
  expect(compareAnswers(answer("paris"), answer("paris"))).toEqual({ likeness: "same" });
  expect(compareAnswers(answer("par", { whole: false }), answer("paris"))).toEqual({ likeness: "same" });
  expect(compareAnswers(answer("", { whole: false }), answer("paris"))).toEqual({ likeness: "same" });
});

test("another token is a difference, unless the reference was as good as undecided there", () => {
  expect(compareAnswers(answer("pagis"), answer("paris"))).toEqual({ likeness: "different", index: 2, margin: 1 });
  const undecided = compareAnswers(answer("pagis"), answer("paris", { margin: 0.01 }));
  expect(undecided).toMatchObject({ likeness: "tie", index: 2 });
});

test("a whole answer that is shorter or longer differs, and so does a cut one that goes on beyond the end", () => {
  expect(compareAnswers(answer("par"), answer("paris"))).toMatchObject({ likeness: "different", index: 3 });
  expect(compareAnswers(answer("paris"), answer("par"))).toMatchObject({ likeness: "different", index: 3 });
  expect(compareAnswers(answer("paris", { whole: false }), answer("par"))).toMatchObject({ likeness: "different" });
});

test("a difference without log probabilities is one", () => {
  const bare = { tokens: [{ token: "x", top: [] }], whole: true };
  expect(compareAnswers(bare, bare)).toEqual({ likeness: "same" });
  expect(compareAnswers(answer("y"), bare)).toMatchObject({ likeness: "different" });
});
