import { expect, test } from "bun:test";
import type { StepTally } from "../../src/domain/steps.ts";
import type { Decoded } from "../../src/engine/child/observer.ts";
import { StepCounter } from "../../src/engine/child/step-counter.ts";
import type { StepPlan } from "../../src/scheduler/plan.ts";

const total = ({ counts }: { readonly counts: readonly number[] }) => counts.reduce((sum, count) => sum + count, 0);
const plan = (decodeRows: number, prefillRows: number): StepPlan => ({
  rows: [],
  adapters: [],
  started: [],
  owner: undefined,
  decodeRows,
  prefillRows,
  guessRows: 0,
  steps: 1,
});

test("pauses of streams and sizes of chunks are told by what caused them", async () => {
  const told = Promise.withResolvers<StepTally>();
  const counter = new StepCounter((message) => message.type === "steps" && told.resolve(message.tally));
  let now = 0;
  const step = (what: Decoded["step"], ms: number, result: Decoded["result"] = "done") => {
    counter.decoded({ step: what, result, before: now, after: now + ms, made: 1 });
    now += ms;
  };
  const span = { start: 0, tokens: 40, whole: false } as never;
  step(plan(0, 300), 200);
  step(plan(2, 0), 20);
  step(plan(2, 0), 20, "aborted");
  step(plan(2, 16), 40);
  step({ key: 1, sequence: 0, adapters: [], span, offset: 0, count: 40, position: 0, starts: true }, 100);
  step(plan(2, 0), 20);
  const { pauses, chunks, rows } = await told.promise;
  expect([total(pauses.decode), total(pauses.prompt), total(pauses.media)]).toEqual([2, 2, 2]);
  expect(pauses.decode.sum).toBeCloseTo(2 * 0.02);
  // The step that was given up is part of the pause.
  expect(pauses.prompt.sum).toBeCloseTo(2 * 0.06);
  expect(pauses.media.sum).toBeCloseTo(2 * 0.12);
  expect([chunks.prefill.sum, chunks.mixed.sum, total(chunks.mixed)]).toEqual([300, 16, 1]);
  expect(rows).toEqual({ decode: 6, prefill: 316, media: 40 });
});
