import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { countDraft, noSpeculation } from "../../src/domain/speculation.ts";
import type { StepCounts } from "../../src/domain/steps.ts";
import { noUsage } from "../../src/domain/usage.ts";
import type { Decoded } from "../../src/engine/text/child/observer.ts";
import { StepCounter } from "../../src/engine/text/child/step-counter.ts";
import type { StepPlan } from "../../src/scheduler/plan.ts";

let told: StepCounts[];
beforeEach(() => {
  told = [];
  jest.useFakeTimers();
});
afterEach(() => void jest.useRealTimers());

/** Returns the counts that are sent now: they are once a second. */
function counted(): StepCounts {
  jest.advanceTimersByTime(1000);
  return told.at(-1) ?? expect.unreachable();
}

const total = ({ counts }: { readonly counts: readonly number[] }) => counts.reduce((sum, count) => sum + count, 0);
/** `streams`: the streams that get a token from the step. */
const plan = (decodeRows: number, prefillRows: number, streams: readonly number[]): StepPlan => ({
  rows: streams.map((key) => ({ key, sequence: key, token: 0, index: 0, position: 0, sample: true })),
  adapters: [],
  started: [],
  decodeRows,
  prefillRows,
  speculativeRows: 0,
  steps: 1,
  together: false,
});

test("pauses of streams are reported with their cause, and so are chunk sizes", () => {
  const counter = new StepCounter((counts) => void told.push(counts));
  const levels = { runningCount: 1, waitingCount: 0, kv: { runningCells: 0 }, speculated: noSpeculation() };
  let now = 0;
  const step = (what: Decoded["step"], ms: number, result: Decoded["result"] = "done") => {
    const made = Number(result === "done" || result === "paused");
    counter.decoded({ step: what, result, before: now, after: now + ms, made }, levels);
    now += ms;
  };
  const span = { start: 0, tokens: 40, whole: false } as never;
  const both = [1, 2];
  step(plan(0, 300, both), 200);
  step(plan(2, 0, both), 20);
  step(plan(2, 0, both), 20, "aborted");
  step(plan(2, 16, both), 40);
  step({ key: 3, sequence: 0, adapters: [], span, offset: 0, count: 40, position: 0, starts: true }, 100);
  step(plan(2, 0, both), 20);
  // A chunk in two slices, and one that is abandoned.
  step(plan(0, 128, []), 50, "paused");
  step(plan(2, 0, both), 20);
  step(plan(0, 128, []), 30);
  step(plan(2, 0, both), 20);
  step(plan(0, 128, []), 40, "no-capacity");
  step(plan(2, 0, both), 20);
  const { durations, pauses, chunks, rows } = counted();
  expect([total(pauses.decode), total(pauses.prompt), total(pauses.media)]).toEqual([2, 8, 2]);
  expect(pauses.decode.sum).toBeCloseTo(2 * 0.02);
  // The abandoned slice counts towards the pause.
  expect(pauses.prompt.sum).toBeCloseTo(2 * (0.06 + 0.07 + 0.05 + 0.06));
  expect(pauses.media.sum).toBeCloseTo(2 * 0.12);
  expect([chunks.prefill.sum, chunks.mixed.sum, total(chunks.mixed)]).toEqual([428, 16, 1]);
  expect(rows).toEqual({ decode: 12, prefill: 444, media: 40 });
  expect([total(durations.prefill), durations.prefill.sum]).toEqual([3, expect.closeTo(0.28)]);
});

test("a pause is as long as a stream waits, whatever steps others had meanwhile", () => {
  const counter = new StepCounter((counts) => void told.push(counts));
  const levels = { runningCount: 1, waitingCount: 0, kv: { runningCells: 0 }, speculated: noSpeculation() };
  const finish = { type: "finish", reason: "stop", usage: noUsage() } as const;
  let now = 0;
  const step = (what: StepPlan) => {
    counter.decoded({ step: what, result: "done", before: now, after: now + 10, made: 1 }, levels);
    now += 10;
  };
  step(plan(0, 5, [1]));
  step(plan(0, 5, [2]));
  // Streams of different adapters, and a prompt of the second adapter.
  step(plan(1, 0, [1]));
  step(plan(1, 8, [2]));
  step(plan(1, 0, [1]));
  counter.finished({ key: 2, event: finish });
  step(plan(1, 0, [1]));
  now += 1000;
  step(plan(0, 5, [2]));
  const { pauses } = counted();
  expect([total(pauses.decode), total(pauses.prompt)]).toEqual([1, 3]);
  expect([pauses.decode.sum, pauses.prompt.sum]).toEqual([expect.closeTo(0.01), expect.closeTo(0.06)]);
});

test("speculative tokens are reported once, including those of the step after which they are sent", () => {
  const counter = new StepCounter((counts) => void told.push(counts));
  const levels = { runningCount: 1, waitingCount: 0, kv: { runningCells: 0 }, speculated: noSpeculation() };
  const step = (accepted: number) => {
    counter.decoded({ step: plan(1, 0, [1]), result: "done", before: 0, after: 1, made: 1 }, levels);
    countDraft(levels.speculated, "draft", 4, accepted);
  };
  step(2);
  step(0);
  expect(counted().speculation.draft).toEqual({ drafts: 2, tokens: 8, accepted: [1, 1] });
  step(1);
  expect(counted().speculation.draft).toEqual({ drafts: 1, tokens: 4, accepted: [1, 0] });
});
