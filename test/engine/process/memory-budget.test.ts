import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { GIB } from "../../../src/domain/gib.ts";
import { MemoryBudget, type MemoryTenant } from "../../../src/engine/process/memory-budget.ts";

const MIB = 2 ** 20;

/** A machine with this much memory, and the engines on it. */
function machine(bytes: number) {
  const tenants: FakeEngine[] = [];
  const budget = new MemoryBudget(() => bytes - tenants.reduce((sum, { ownBytes }) => sum + ownBytes, 0));
  const ended: string[] = [];
  const engine = (name: string, ownBytes = 0, idleSince?: number, onEnd: () => unknown = () => {}) => {
    const one = new FakeEngine(ownBytes, idleSince, () => {
      ended.push(name);
      onEnd();
    });
    tenants.push(one);
    budget.add(one);
    return one;
  };
  return { budget, ended, engine };
}

class FakeEngine implements MemoryTenant {
  constructor(
    public ownBytes: number,
    public idleSince: number | undefined,
    private readonly onEnd: () => void,
  ) {}

  async unload(): Promise<void> {
    // A process takes a moment to end.
    await Bun.sleep(1);
    this.ownBytes = 0;
    this.idleSince = undefined;
    this.onEnd();
  }
}

const refusal = (claim: Promise<void> | undefined): Promise<unknown> =>
  Promise.resolve(claim).then(
    () => "granted",
    (error: unknown) => (error instanceof SvcError ? [error.code, error.message] : error),
  );

describe("memory budget", () => {
  test("loads an engine that fits at once, without unloading others", () => {
    const { budget, ended, engine } = machine(100);
    engine("idle", 40, 1);
    expect(budget.claim(engine("new"), 60, "new")).toBeUndefined();
    expect(ended).toEqual([]);
  });

  test("unloads idle engines, the least recently used first and no more than needed", async () => {
    const { budget, ended, engine } = machine(100);
    engine("late", 30, 9);
    engine("early", 30, 3);
    engine("middle", 30, 5);
    await budget.claim(engine("new"), 60, "new");
    expect(ended).toEqual(["early", "middle"]);
  });

  test("never unloads an engine with work, and unloads no idle engine when that would not suffice", async () => {
    const { budget, ended, engine } = machine(4 * GIB);
    engine("busy", 2.5 * GIB);
    engine("idle", 0.5 * GIB, 1);
    expect(await refusal(budget.claim(engine("new"), 3 * GIB, "large"))).toEqual([
      "engine_unavailable",
      "The model large needs at least 3.0 GiB of memory; 1.0 GiB are free.",
    ]);
    expect(ended).toEqual([]);
  });

  test("says amounts below 1 GiB in MiB", async () => {
    const { budget, engine } = machine(2 * MIB);
    expect(await refusal(budget.claim(engine("new"), 24.9 * MIB, "small"))).toEqual([
      "engine_unavailable",
      "The model small needs at least 24.9 MiB of memory; 2.0 MiB are free.",
    ]);
  });

  test("does not count the memory of an engine that is still loading as free", async () => {
    const { budget, engine } = machine(100);
    const first = engine("first");
    expect(budget.claim(first, 70, "first")).toBeUndefined();
    first.ownBytes = 20;
    expect(await refusal(budget.claim(engine("second"), 40, "second"))).toEqual([
      "engine_unavailable",
      expect.any(String),
    ]);
    expect(budget.claim(engine("third"), 30, "third")).toBeUndefined();
    budget.settle(first);
    expect(budget.claim(engine("fourth"), 50, "fourth")).toBeUndefined();
  });

  test("does not give the same bytes to two loads at once", async () => {
    const { budget, ended, engine } = machine(100);
    engine("idle", 100, 1);
    const claims = ["one", "two"].map((name) => refusal(budget.claim(engine(name), 60, name)));
    expect(await Promise.all(claims)).toEqual(["granted", ["engine_unavailable", expect.any(String)]]);
    expect(ended).toEqual(["idle"]);
  });

  test("keeps an idle engine that gets a job while others are unloaded", async () => {
    const { budget, ended, engine } = machine(100);
    const second = engine("second", 60, 2);
    engine("first", 30, 1, () => (second.idleSince = undefined));
    expect(await refusal(budget.claim(engine("new"), 90, "new"))).toEqual(["engine_unavailable", expect.any(String)]);
    expect(ended).toEqual(["first"]);
  });
});
