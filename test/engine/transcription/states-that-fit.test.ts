import { expect, test } from "bun:test";
import { statesThatFit } from "../../../src/engine/transcription/child/states-that-fit.ts";

test("recordings are transcribed in parallel as far as memory allows, and at least one", () => {
  const large = 1.07e9;
  expect(statesThatFit(8, large, 16e9)).toBe(8);
  expect(statesThatFit(8, large, 3.3e9)).toBe(4);
  expect(statesThatFit(8, large, 0)).toBe(1);
  expect(statesThatFit(1, large, 16e9)).toBe(1);
});
