import { expect, test } from "bun:test";
import { countGuesses, noGuesses } from "../../src/domain/guesses.ts";
import type { StepTally } from "../../src/domain/steps.ts";
import type { Decoded } from "../../src/engine/child/observer.ts";
import { StepCounter } from "../../src/engine/child/step-counter.ts";
import type { StepPlan } from "../../src/scheduler/plan.ts";

const total = ({ counts }: { readonly counts: readonly number[] }) => counts.reduce((sum, count) => sum + count, 0);
const row = { key: 1, sequence: 0, token: 0, index: 0, position: 0 };
const plan = (decodeRows: number, prefillRows: number, sample = true): StepPlan => ({
  rows: [{ ...row, sample }],
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
  const levels = { runningCount: 1, waitingCount: 0, cellsUsed: 0, guesses: noGuesses() };
  let now = 0;
  const step = (what: Decoded["step"], ms: number, result: Decoded["result"] = "done") => {
    counter.decoded({ step: what, result, before: now, after: now + ms, made: 1 }, levels);
    now += ms;
  };
  const span = { start: 0, tokens: 40, whole: false } as never;
  step(plan(0, 300), 200);
  step(plan(2, 0), 20);
  step(plan(2, 0), 20, "aborted");
  step(plan(2, 16), 40);
  step({ key: 1, sequence: 0, adapters: [], span, offset: 0, count: 40, position: 0, starts: true }, 100);
  step(plan(2, 0), 20);
  // A chunk in two slices.
  step(plan(0, 128, false), 50, "paused");
  step(plan(2, 0), 20);
  step(plan(0, 128, false), 30);
  step(plan(2, 0), 20);
  const { durations, pauses, chunks, rows } = await told.promise;
  expect([total(pauses.decode), total(pauses.prompt), total(pauses.media)]).toEqual([2, 6, 2]);
  expect(pauses.decode.sum).toBeCloseTo(2 * 0.02);
  // The step that was given up is part of the pause.
  expect(pauses.prompt.sum).toBeCloseTo(2 * (0.06 + 0.07 + 0.05));
  expect(pauses.media.sum).toBeCloseTo(2 * 0.12);
  expect([chunks.prefill.sum, chunks.mixed.sum, total(chunks.mixed)]).toEqual([428, 16, 1]);
  expect(rows).toEqual({ decode: 10, prefill: 444, media: 40 });
  expect([total(durations.prefill), durations.prefill.sum]).toEqual([3, expect.closeTo(0.28)]);
});

test("guesses are told once, also those of the step after which they are told", async () => {
  const told: StepTally[] = [];
  const counter = new StepCounter((message) => void (message.type === "steps" && told.push(message.tally)));
  const levels = { runningCount: 1, waitingCount: 0, cellsUsed: 0, guesses: noGuesses() };
  const step = (right: number) => {
    counter.decoded({ step: plan(1, 0), result: "done", before: 0, after: 1, made: 1 }, levels);
    countGuesses(levels.guesses, "draft", 4, right);
  };
  step(2);
  step(0);
  while (told.length < 1) await Bun.sleep(20);
  step(1);
  while (told.length < 2) await Bun.sleep(20);
  expect(told.map(({ guesses }) => guesses.draft)).toEqual([
    { drafts: 2, tokens: 8, accepted: [1, 1] },
    { drafts: 1, tokens: 4, accepted: [1, 0] },
  ]);
});
