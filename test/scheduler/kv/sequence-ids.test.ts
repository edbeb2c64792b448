// Where sequences lie apart, llama.cpp computes rows together only if the ids of their sequences are consecutive: each
// further run of ids reads all weights once more.

import { describe, expect, test } from "bun:test";
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
