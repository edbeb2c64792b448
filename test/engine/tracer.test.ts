// Trace entries for steps that a small model without media never makes.

import { expect, test } from "bun:test";
import type { ReadyPrompt } from "../../src/engine/text/child/intake.ts";
import type { Decoded } from "../../src/engine/text/child/observer.ts";
import { noSpeculation } from "../../src/domain/speculation.ts";
import { Tracer } from "../../src/engine/text/child/tracer.ts";
import { noUsage } from "../../src/domain/usage.ts";
import type { MediaStep, StepPlan } from "../../src/scheduler/plan.ts";
import { plainRequest } from "../support/request.ts";

interface Event {
  readonly ph: string;
  readonly name: string;
  readonly tid: number;
  readonly ts: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** Returns a tracer whose wall clock is one second ahead of its monotonic clock. */
function start() {
  const events: Event[] = [];
  const file = { add: (...lines: string[]) => void events.push(...lines.map((line) => JSON.parse(line))) };
  const tracer = new Tracer(file, { now: () => 0, wall: () => 1000 }, 42);
  const levels = { runningCount: 1, waitingCount: 2, kv: { runningCells: 3 }, speculated: noSpeculation() };
  const idle = { runningCount: 0, waitingCount: 0, kv: { runningCells: 0 }, speculated: noSpeculation() };
  return {
    events,
    accept: (key: number, now: number) =>
      tracer.accepted(
        { key, request: plainRequest("secret"), tokens: new Int32Array(5) } as unknown as ReadyPrompt,
        now,
      ),
    decode: (step: Decoded["step"], before: number, after: number, result: Decoded["result"] = "done") => {
      if ("started" in step) tracer.started(step.started, before);
      else if (step.starts) tracer.started([step.key], before);
      const made = Number(result === "done" || result === "paused");
      tracer.decoded({ step, result, made, before, after }, levels);
    },
    finish: (key: number, now: number) =>
      tracer.finished({ key, event: { type: "finish", reason: "cancelled", usage: noUsage() } }, now, idle),
    /** Returns the phases of one request as `name from-to`, in the order in which they ended. */
    phases: (key: number) => {
      const begun: Event[] = [];
      return events.flatMap((event) => {
        if (event.tid !== key || event.ph === "M") return [];
        if (event.ph === "B") {
          begun.push(event);
          return [];
        }
        const from = begun.pop();
        expect(from?.name).toBe(event.name);
        return [`${event.name} ${from?.ts}-${event.ts}`];
      });
    },
    slices: () =>
      events.flatMap(({ ph, name, ts, args }): Record<string, unknown>[] =>
        ph === "X" ? [{ name, ts, ...args }] : [],
      ),
  };
}

const media = { key: 1, count: 64, starts: true } as MediaStep;
const plan = (changes: Partial<StepPlan>): StepPlan => ({
  rows: [{ key: 1, sequence: 0, token: 0, index: 0, position: 0, sample: true }],
  adapters: [],
  started: [],
  decodeRows: 0,
  prefillRows: 1,
  speculativeRows: 0,
  steps: 1,
  together: false,
  ...changes,
});

test("a media step begins the prefill of its request, and has its own slice", () => {
  const { accept, decode, finish, phases, slices } = start();
  accept(1, 0);
  decode(media, 2, 5);
  decode(plan({}), 6, 8);
  decode(plan({ decodeRows: 1, prefillRows: 0 }), 9, 10);
  finish(1, 11);
  expect(phases(1)).toEqual([
    "queued 1000000-1002000",
    "prefill 1002000-1008000",
    "decode 1008000-1011000",
    "request 1000000-1011000",
  ]);
  expect(slices()).toEqual([
    { name: "media", ts: 1_002_000, media_rows: 64, request: 1, result: "done" },
    { name: "between steps", ts: 1_005_000 },
    { name: "prefill", ts: 1_006_000, decode_rows: 0, prefill_rows: 1, speculative_rows: 0, steps: 1, result: "done" },
    { name: "between steps", ts: 1_008_000 },
    { name: "decode", ts: 1_009_000, decode_rows: 1, prefill_rows: 0, speculative_rows: 0, steps: 1, result: "done" },
  ]);
});

test("the rows of a chunk are reported with its last slice, and its phase begins with the first", () => {
  const { accept, decode, finish, phases, slices } = start();
  const rows = [{ key: 1, sequence: 0, token: 0, index: 0, position: 0, sample: false }];
  const chunk = plan({ rows, prefillRows: 64, started: [1] });
  accept(1, 0);
  decode(chunk, 1, 2, "paused");
  decode(chunk, 3, 4, "paused");
  decode(chunk, 5, 6);
  decode(chunk, 7, 8, "paused");
  decode(chunk, 9, 10, "aborted");
  finish(1, 11);
  expect(phases(1)).toEqual(["queued 1000000-1001000", "prefill 1001000-1011000", "request 1000000-1011000"]);
  const told = slices().filter(({ name }) => name === "prefill");
  expect(told.map(({ result, steps, prefill_rows }) => [result, steps, prefill_rows])).toEqual([
    ["paused", 1, 0],
    ["paused", 1, 0],
    ["done", 1, 64],
    ["paused", 1, 0],
    ["aborted", 0, 64],
  ]);
});

test("an aborted step yields no first token, and a request cancelled while waiting was only queued", () => {
  const { accept, decode, finish, phases, slices } = start();
  accept(1, 0);
  accept(2, 1);
  decode(plan({ started: [1] }), 2, 3, "aborted");
  finish(1, 4);
  finish(2, 5);
  expect(phases(1)).toEqual(["queued 1000000-1002000", "prefill 1002000-1004000", "request 1000000-1004000"]);
  expect(phases(2)).toEqual(["queued 1001000-1005000", "request 1001000-1005000"]);
  expect(slices()).toMatchObject([{ name: "prefill", result: "aborted" }]);
});

test("a request that is computed again stays in its decode phase, and idle time does not count as time between steps", () => {
  const { accept, decode, finish, phases, slices, events } = start();
  accept(1, 0);
  decode(plan({ started: [1] }), 1, 2);
  decode(plan({}), 3, 4);
  finish(1, 5);
  accept(3, 900);
  decode(plan({ started: [3] }), 901, 902);
  expect(phases(1).map((phase) => phase.split(" ")[0])).toEqual(["queued", "prefill", "decode", "request"]);
  expect(slices().filter(({ name }) => name === "between steps")).toEqual([{ name: "between steps", ts: 1_002_000 }]);
  expect(events.filter(({ ph }) => ph === "C").map(({ name, args }) => [name, args])).toEqual([
    ["requests", { running: 1, waiting: 2 }],
    ["kv cells", { used: 3 }],
    ["requests", { running: 0, waiting: 0 }],
    ["kv cells", { used: 0 }],
    ["requests", { running: 1, waiting: 2 }],
    ["kv cells", { used: 3 }],
  ]);
});
