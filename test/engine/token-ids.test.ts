import { expect, test } from "bun:test";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { unknownTokenOf } from "../../src/engine/text/child/token-ids.ts";
import { plainRequest } from "../support/request.ts";

const VOCABULARY = 257;
const told = (changes: Partial<GenerateRequest>) => unknownTokenOf(plainRequest("", changes), VOCABULARY)?.message;
const biased = (token: number): Partial<GenerateRequest> => ({
  sampling: {
    logitBias: [
      [0, 1],
      [token, 1],
    ],
  },
});

test("valid token ids and text are accepted", () => {
  expect([{ prompt: [0, 256] }, { prompt: "999" }, biased(256), {}].map(told)).toEqual(Array(4).fill(undefined));
});

test("invalid token ids are refused with the field, the range and the id", () => {
  expect([{ prompt: [5, 257] }, { prompt: [5, 257], promptField: "prompt.1" }, biased(300)].map(told)).toEqual([
    "'prompt' must have token ids from 0 to 256 for this model; got 257.",
    "'prompt.1.1' must be a token id from 0 to 256 for this model; got 257.",
    "'logit_bias' must have token ids from 0 to 256 for this model; got 300.",
  ]);
});
