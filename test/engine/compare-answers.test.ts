// When two greedy answers count as the same.

import { expect, test } from "bun:test";
import { compareAnswers, type GreedyAnswer } from "../support/same-answer.ts";

/** Returns an answer of one-letter tokens, each with this margin over the second-best token. */
const answer = (text: string, { margin = 1, whole = true } = {}): GreedyAnswer => ({
  tokens: [...text].map((token) => ({ token, top: [-0.1, -0.1 - margin] })),
  whole,
});

test("equal texts are the same, and so is the start of an incomplete answer", () => {
  expect(compareAnswers(answer("paris"), answer("paris"))).toEqual({ likeness: "same" });
  expect(compareAnswers(answer("par", { whole: false }), answer("paris"))).toEqual({ likeness: "same" });
  expect(compareAnswers(answer("", { whole: false }), answer("paris"))).toEqual({ likeness: "same" });
});

test("a different token is a difference, unless the reference was undecided at that token", () => {
  expect(compareAnswers(answer("pagis"), answer("paris"))).toEqual({ likeness: "different", index: 2, margin: 1 });
  const undecided = compareAnswers(answer("pagis"), answer("paris", { margin: 0.01 }));
  expect(undecided).toMatchObject({ likeness: "tie", index: 2 });
});

test("a complete answer of another length differs, and so does an incomplete one that exceeds the reference", () => {
  expect(compareAnswers(answer("par"), answer("paris"))).toMatchObject({ likeness: "different", index: 3 });
  expect(compareAnswers(answer("paris"), answer("par"))).toMatchObject({ likeness: "different", index: 3 });
  expect(compareAnswers(answer("paris", { whole: false }), answer("par"))).toMatchObject({ likeness: "different" });
});

test("a different token without log probabilities is a difference", () => {
  const bare = { tokens: [{ token: "x", top: [] }], whole: true };
  expect(compareAnswers(bare, bare)).toEqual({ likeness: "same" });
  expect(compareAnswers(answer("y"), bare)).toMatchObject({ likeness: "different" });
});
