// Where sequences lie apart, llama.cpp computes rows together only if the ids of their sequences are consecutive: each
// further run of ids reads all weights once more.

import { describe, expect, test } from "bun:test";
import type { SchedulerLimits } from "../../../src/scheduler/limits.ts";
import type { StepPlan } from "../../../src/scheduler/plan.ts";
import { FakeEngine, LIMITS, type Cost } from "../fake-engine.ts";

const STREAMS = 8;
const limits = { ...LIMITS, parallel: 2 * STREAMS, sequences: 2 * STREAMS, cells: 32_768 };
const LAYOUTS = (["streams", "paged"] as const).map((layout) => ({ ...limits, layout }));
const cost: Cost = (decodeRows, prefillRows) => 20 + decodeRows + prefillRows;

/** How many runs of consecutive ids the streams of a step have. */
function runsOf({ rows }: StepPlan): number {
  const ids = new Set(rows.filter(({ sample }) => sample).map(({ sequence }) => sequence));
  return [...ids].filter((id) => !ids.has(id - 1)).length;
}

const mostRuns = (plans: readonly StepPlan[]) => Math.max(...plans.map(runsOf));

describe.each(LAYOUTS)("$layout", (layout) => {
  test("streams of the same adapters lie side by side when those of several sets come in turn", () => {
    const engine = new FakeEngine(layout, cost);
    const sets = [[], [{ id: 0, scale: 1 }], [{ id: 1, scale: 1 }]];
    for (let key = 0; key < 12; key++) engine.add(key, 10, 20, "", { adapters: sets[key % 3] ?? [] });
    engine.run();
    expect(Math.max(...engine.plans.map(({ decodeRows }) => decodeRows))).toBe(4);
    expect(mostRuns(engine.plans)).toBe(1);
  });

  test("the first streams of a burst lie side by side while its longer prompts are computed", () => {
    const engine = new FakeEngine(layout, cost);
    for (const [key, length] of [300, 20, 250, 40, 200, 30, 350, 50].entries()) engine.add(key, length, 200);
    engine.run();
    const meanwhile = engine.plans.filter(({ decodeRows, prefillRows }) => decodeRows > 1 && prefillRows > 0);
    expect(meanwhile.length).toBeGreaterThan(2);
    expect(mostRuns(meanwhile)).toBe(1);
  });
});

describe("paged: streams that end leave gaps", () => {
  /** Returns an engine with 8 streams of which every second one has ended after `short` tokens. */
  const halved = (short: number, long: number, stepMs: number, changes: Partial<SchedulerLimits> = {}) => {
    const engine = new FakeEngine({ ...limits, layout: "paged", ...changes }, () => stepMs);
    for (let key = 0; key < STREAMS; key++) engine.add(key, 10, key % 2 === 0 ? short : long);
    while (engine.scheduler.runningCount !== STREAMS / 2) engine.step();
    return engine;
  };

  test.each([2 * STREAMS, STREAMS])("which the others fill, with %d ids", (sequences) => {
    const engine = halved(20, 200, 20, { sequences });
    const from = engine.plans.length;
    engine.run();
    const runs = engine.plans.slice(from).map(runsOf);
    expect(Math.max(...runs.slice(2))).toBe(1);
    expect([1, 3, 5, 7].map((key) => engine.output(key).length)).toEqual([200, 200, 200, 200]);
  });

  test("and stay cached for their next turn", () => {
    const engine = halved(20, 200, 20);
    engine.run();
    for (const key of [0, 2, 4, 6]) engine.add(10 + key, [...(engine.jobs.get(key)?.tokens ?? []), 5], 2);
    engine.run();
    expect([10, 12, 14, 16].map((key) => engine.cached.get(key))).toEqual([29, 29, 29, 29]);
  });

  test.each([
    ["little is left of the others", 20, 22, 4],
    ["steps are short", 20, 200, 0.1],
  ])("which stay when %s", (_, short, long, stepMs) => {
    const engine = halved(short, long, stepMs);
    const from = engine.plans.length;
    engine.run();
    expect(new Set(engine.plans.slice(from).map(runsOf))).toEqual(new Set([STREAMS / 2]));
  });

  test("are not filled with requests of other adapters or prompts, which keep their ids", () => {
    const engine = new FakeEngine({ ...limits, layout: "paged", chunk: 64 }, cost);
    const sets = [[], [{ id: 0, scale: 1 }]];
    for (let key = 0; key < 12; key++) engine.add(key, 10, 30 + 40 * (key % 5), "", { adapters: sets[key % 2] ?? [] });
    while (engine.output(0).length < 10) engine.step();
    engine.add(20, 2000, 40, "", { adapters: sets[1] ?? [] });
    engine.add(21, 1500, 40, "", { adapters: sets[0] ?? [] });
    engine.run();
    expect(engine.slices.length).toBeGreaterThan(10);
    expect(mostRuns(engine.plans)).toBeLessThan(4);
    for (const [key, { request, said }] of engine.jobs) expect([key, said.length]).toEqual([key, request.maxTokens]);
  });
});
