import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { GIB } from "../../../src/domain/gib.ts";
import { GpuMemory } from "../../../src/engine/process/gpu-memory.ts";
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
  onGpus = 0;

  constructor(
    public ownBytes: number,
    public idleSince: number | undefined,
    private readonly onEnd: () => void,
  ) {}

  async unload(): Promise<void> {
    // A process takes a moment to end.
    await Bun.sleep(1);
    this.ownBytes = this.onGpus = 0;
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

/** A machine with GPUs, of which models may take `onGpus` bytes. */
function machineWithGpus(bytes: number, onGpus: number) {
  const tenants: FakeEngine[] = [];
  const ended: string[] = [];
  const left = (all: number, of: "ownBytes" | "onGpus") => all - tenants.reduce((sum, one) => sum + one[of], 0);
  let readings = 0;
  const gpus = new GpuMemory(async () => {
    await Bun.sleep(1);
    readings++;
    return [{ free: left(onGpus, "onGpus") + GIB, total: onGpus + GIB, isShared: false }];
  });
  const budget = new MemoryBudget(() => left(bytes, "ownBytes"), gpus);
  const engine = (name: string) => {
    const one = new FakeEngine(0, undefined, () => ended.push(name));
    tenants.push(one);
    budget.add(one);
    return one;
  };
  /** Loads a model, as much of it as possible onto GPUs, and lets it be idle since `idleSince`. */
  const load = async (name: string, size: number, idleSince?: number) => {
    const one = engine(name);
    await budget.claim(one, size, name, { bytes: size, orHost: true });
    one.onGpus = Math.min(size, left(onGpus, "onGpus"));
    one.ownBytes = size - one.onGpus;
    one.idleSince = idleSince;
    budget.settle(one);
    return one;
  };
  return { budget, ended, engine, load, readings: () => readings };
}

describe("memory budget of GPUs", () => {
  test("a model that GPUs hold needs no RAM", async () => {
    const { budget, engine } = machineWithGpus(13, 23);
    const one = engine("new");
    expect(await refusal(budget.claim(one, 18, "new", { bytes: 18, orHost: true }))).toBe("granted");
    // The RAM is still there for another.
    expect(budget.claim(engine("other"), 13, "other")).toBeUndefined();
  });

  test("RAM takes what they cannot hold", async () => {
    const { load, ended } = machineWithGpus(13, 23);
    expect(await load("large", 30)).toMatchObject({ onGpus: 23, ownBytes: 7 });
    expect(ended).toEqual([]);
  });

  test("an idle model leaves them to the next one, even if RAM could hold that", async () => {
    const { load, ended } = machineWithGpus(100, 23);
    await load("late", 6, 9);
    await load("early", 15, 3);
    expect(await load("new", 10)).toMatchObject({ onGpus: 10, ownBytes: 0 });
    expect(ended).toEqual(["early"]);
  });

  test("an idle model in RAM is not unloaded for them", async () => {
    const { budget, engine, load, ended } = machineWithGpus(30, 23);
    const inRam = engine("in RAM");
    expect(budget.claim(inRam, 20, "in RAM")).toBeUndefined();
    inRam.ownBytes = 20;
    inRam.idleSince = 1;
    budget.settle(inRam);
    await load("on GPUs", 20, 2);
    await load("new", 15);
    expect(ended).toEqual(["on GPUs"]);
    // Now it is in the way.
    expect(await load("more", 25)).toMatchObject({ onGpus: 8, ownBytes: 17 });
    expect(ended).toEqual(["on GPUs", "in RAM"]);
  });

  test("a busy model keeps them: the next one is computed by the CPU, or refused with all numbers", async () => {
    const { budget, engine, load, ended } = machineWithGpus(13 * GIB, 23 * GIB);
    await load("busy", 20 * GIB);
    expect(await load("small", 5 * GIB, 1)).toMatchObject({ onGpus: 3 * GIB, ownBytes: 2 * GIB });
    expect(await refusal(budget.claim(engine("new"), 18 * GIB, "new", { bytes: 18 * GIB, orHost: true }))).toEqual([
      "engine_unavailable",
      "The model new needs at least 18.0 GiB of memory; 11.0 GiB are free, and 0.0 MiB on GPUs.",
    ]);
    expect(ended).toEqual([]);
  });

  test("RAM does not take layers that were put on GPUs by number", async () => {
    const { budget, engine } = machineWithGpus(100 * GIB, 7 * GIB);
    const claim = (bytes: number) => budget.claim(engine("new"), 18 * GIB, "new", { bytes, orHost: false });
    expect(await refusal(claim(9 * GIB))).toEqual([
      "engine_unavailable",
      "The model new needs at least 18.0 GiB of memory, 9.0 GiB of it on GPUs; 100.0 GiB are free, and 7.0 GiB on GPUs.",
    ]);
  });

  test("loads onto them follow each other, while those into RAM do not wait", async () => {
    const { budget, engine, readings } = machineWithGpus(100, 23);
    const [first, second] = [engine("first"), engine("second")];
    await budget.claim(first, 15, "first", { bytes: 15, orHost: true });
    let isGranted = false;
    const claim = budget.claim(second, 15, "second", { bytes: 15, orHost: true })?.then(() => (isGranted = true));
    await Bun.sleep(10);
    expect([isGranted, readings()]).toEqual([false, 1]);
    expect(budget.claim(engine("in RAM"), 50, "in RAM")).toBeUndefined();
    first.onGpus = 15;
    budget.settle(first);
    await claim;
    expect(readings()).toBe(2);
  });

  test("a load that fails lets the next one begin", async () => {
    const { budget, engine, load } = machineWithGpus(10, 10);
    const failing = engine("failing");
    expect(await refusal(budget.claim(failing, 50, "failing", { bytes: 10, orHost: true }))).not.toBe("granted");
    budget.settle(failing);
    expect(await load("next", 10)).toMatchObject({ onGpus: 10 });
  });
});
