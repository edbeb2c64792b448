import { expect, test } from "bun:test";
import { Forecast } from "../../../src/scheduler/cost/forecast.ts";
import { StepCost } from "../../../src/scheduler/cost/step-cost.ts";
import type { Sequence } from "../../../src/scheduler/sequence.ts";

const NONE = { running: 0, idle: 0 };

/** A forecast where a decode step takes 10 ms and a prompt token 1 ms. */
function forecast(): Forecast {
  const cost = new StepCost();
  cost.record(1, 0, 10, NONE);
  cost.record(0, 100, 100, NONE);
  const made = new Forecast(cost, 50);
  for (let answer = 0; answer < 20; answer++) made.record(1000);
  return made;
}

const request = (changes: Partial<Sequence>) =>
  ({ decoding: true, generated: 0, maxTokens: 1000, uncomputed: 0, adapterKey: "", ...changes }) as Sequence;

test("the first of several requests to end is the one with the fewest tokens left", () => {
  const [short, long] = [request({ maxTokens: 20 }), request({ maxTokens: 500 })];
  expect(forecast().firstEndMs([long, short])).toBe(200);
});

test("requests of two sets of adapters take turns", () => {
  const [one, other] = [request({ maxTokens: 20 }), request({ maxTokens: 30, adapterKey: "b" })];
  expect(forecast().firstEndMs([one, other])).toBe(400);
});

test("a prompt delays a stream by at most the stall budget in each of its steps", () => {
  const prompt = request({ decoding: false, uncomputed: 4000, maxTokens: 500 });
  expect(forecast().firstEndMs([request({ maxTokens: 20 }), prompt])).toBe(20 * (10 + 50));
  expect(forecast().firstEndMs([request({ maxTokens: 200 }), prompt])).toBe(200 * 10 + 4000);
});
