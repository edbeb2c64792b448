// Simulates loads with all checks on: everyone who stays must get an answer in the end.

import { describe, expect, test } from "bun:test";
import { LIMITS } from "../scheduler/fake-engine.ts";
import { simulate } from "./simulate.ts";
import { adapted, type Trace } from "./traces.ts";

/** Milliseconds per step. */
export const COST = (decodeRows: number, prefillRows: number): number => 5 + decodeRows + prefillRows * 0.5;

/** Tests each load in several layouts, with and without adapters. */
export function everyoneFinishes(loads: readonly Trace[]): void {
  describe.each([
    ["unified", 0],
    ["unified", 64],
    ["streams", 0],
    ["streams", 64],
  ] as const)("%s, chunks of %d that can be paused", (layout, chunk) => {
    const limits = { ...LIMITS, layout, chunk, cells: 8192, sequences: layout === "unified" ? 24 : 4 };

    test.each([...loads, ...loads.map(adapted)])("$name", (trace) => {
      const { outcomes } = simulate(trace, limits, COST, true);
      for (const [at, arrival] of trace.arrivals.toSorted((a, b) => a.at - b.at).entries()) {
        if (arrival.disconnectsAfter === undefined) expect(outcomes[at]?.finished).toBe(true);
      }
      expect(outcomes.length).toBeGreaterThanOrEqual(trace.arrivals.length);
    });
  });
}
