import { describe, expect, test } from "bun:test";
import { CellCost, PromptCellCost, TileCost } from "../../../src/scheduler/cost/cell-cost.ts";
import { dice } from "../../support/dice.ts";

const between = (roll: (below: number) => number, least: number, most: number) => least + roll(most - least + 1);

describe("idle cells beside streams", () => {
  /** A step takes 5 ms, 1 ms for each row, and `cellMs` for each thousand cells that a row attends to. */
  const measured = (steps: number, cellMs: number) => {
    const cost = new CellCost();
    const roll = dice(1);
    for (let step = 0; step < steps; step++) {
      const [rows, cells] = [between(roll, 1, 32), between(roll, 100, 30_000)];
      cost.record(rows, cells, 5 + rows + (cellMs * rows * cells) / 1000);
    }
    return cost;
  };

  test("may stay as long as they slow down a step by at most 15 %", () => {
    // A step of 16 ms, to which each idle cell adds 0.0005 ms.
    expect(measured(200, 0.5).affordable(1, 20_000) / 4800).toBeCloseTo(1, 1);
  });

  test("may all stay when they cost nothing, and while nothing is known", () => {
    expect(measured(200, 0).affordable(1, 20_000)).toBeGreaterThan(1e6);
    expect(measured(10, 0.5).affordable(1, 20_000)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("idle cells beside a prompt", () => {
  /**
   * A row takes 1 ms, 2 ms for each thousand own cells, and `idleMs` for each thousand idle ones; `slowdown`: how many
   * times as long each step takes.
   */
  const measured = (steps: number, idleMs: number, slowdown = (_step: number) => 1) => {
    const cost = new PromptCellCost();
    const roll = dice(2);
    for (let step = 0; step < steps; step++) {
      const [rows, own, idle] = [between(roll, 64, 512), between(roll, 100, 8000), between(roll, 0, 60_000)];
      cost.record(rows, own, idle, slowdown(step) * rows * (1 + (2 * own + idleMs * idle) / 1000));
    }
    return cost;
  };

  test("cost a prompt of 500 rows what they cost each row", () => {
    expect(measured(100, 0.2).idleCellMs(500) / 0.1).toBeWithin(0.85, 1.15);
    expect(measured(5, 0.2).idleCellMs(500)).toBe(0);
  });

  test("cost more once a machine stays slower, but hardly more after disturbed steps", () => {
    const usual = measured(400, 0.2).idleCellMs(500);
    expect(measured(400, 0.2, (step) => (step < 100 ? 1 : 4)).idleCellMs(500) / usual).toBeWithin(3.7, 4.3);
    for (const disturbed of [20, 50, 399]) {
      const cost = measured(400, 0.2, (step) => (step === disturbed ? 50 : 1));
      expect(cost.idleCellMs(500) / usual).toBeWithin(0.95, 1.05);
    }
  });

  test("may stay as long as they slow it down by at most 1 %", () => {
    const cost = measured(100, 0.05);
    const own = 10_000;
    const most = (0.01 * 500 * (1 + 2 * (own / 1000))) / cost.idleCellMs(500);
    expect(cost.affordable(500, own) / most).toBeCloseTo(1, 1);
    expect(measured(5, 0.05).affordable(500, own)).toBe(Number.POSITIVE_INFINITY);
  });
});

test("a whole tile pays where attention takes long, and nearly as many rows would be computed alone", () => {
  const cost = new TileCost();
  expect(cost.pays(100, 128, 10_000)).toBeFalse();
  const roll = dice(3);
  for (let step = 0; step < 50; step++) {
    const [rows, cells] = [between(roll, 64, 512), between(roll, 100, 20_000)];
    cost.record(rows, cells, rows + (0.05 * rows * cells) / 1000);
  }
  expect(cost.pays(100, 128, 10_000)).toBeTrue();
  expect(cost.pays(10, 128, 10_000)).toBeFalse();
  expect(cost.pays(100, 128, 0)).toBeFalse();
});
