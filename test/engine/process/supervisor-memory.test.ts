// Supervisors whose engines do not fit into memory together.

import { afterEach, describe, expect, test } from "bun:test";
import { GpuMemory } from "../../../src/engine/process/gpu-memory.ts";
import { MemoryBudget } from "../../../src/engine/process/memory-budget.ts";
import { childrenOf } from "../../support/processes.ts";
import { rejectionCode } from "../../support/thrown.ts";
import { until } from "../../support/until.ts";
import { count, decisions, ENDLESS, live, running, start, stopCounters, type Counter } from "./counters.ts";

afterEach(stopCounters);

describe("where memory is short", () => {
  test("an idle engine is unloaded for the next one, and loaded again for its next job", async () => {
    const loaded = (counter: Counter | undefined) => counter?.status().state === "ready";
    const engines: Counter[] = [];
    // Memory for one of the engines.
    const memory = new MemoryBudget(() => (engines.some(loaded) ? 0 : 1e9));
    const [first, second] = [start({ memory, needBytes: 1 }), start({ memory, needBytes: 1 })];
    engines.push(first, second);
    await count(first, { to: 1 });
    await until(() => first.status().residentBytes > 0);
    expect((await count(second, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
    expect(first.status()).toMatchObject({ state: "unloaded", residentBytes: 0, restarts: 0 });
    await until(() => second.status().residentBytes > 0);
    expect((await count(first, { to: 3 })).at(-1)).toMatchObject({ count: 3 });
    expect(second.status().state).toBe("unloaded");
    const swap = ["engine unloaded: memory", "engine loaded: requested"];
    expect(decisions).toEqual(["engine loaded: requested", ...swap, ...swap]);
  });

  test("an engine reads the GPUs once the one that is loaded from the start has its memory there", async () => {
    const states: string[] = [];
    const gpus = new GpuMemory(async () => {
      states.push(first.status().state);
      return [{ free: 1e9, total: 2e9, isShared: false }];
    });
    const memory = new MemoryBudget(() => 1e9, gpus);
    const onGpus = { bytes: 1, orHost: true };
    const first = start({ memory, start: "eager", onGpus, loadMs: 300 });
    const second = start({ memory, needBytes: 1, onGpus });
    expect((await count(second, { to: 1 })).at(-1)).toMatchObject({ count: 1 });
    expect(states).toEqual(["ready"]);
  });

  test("an engine with work is not unloaded: the other's job is refused, and runs when there is memory", async () => {
    let free = 1e9;
    const memory = new MemoryBudget(() => free);
    const [first, second] = [start({ memory, needBytes: 1 }), start({ memory, needBytes: 2e9 })];
    const leave = new AbortController();
    const events = await running(first, ENDLESS, leave.signal);
    expect(await rejectionCode(count(second, { to: 1 }))).toBe("engine_unavailable");
    expect([first.status().running, second.status().state]).toEqual([1, "unloaded"]);
    free = 3e9;
    expect((await count(second, { to: 1 })).at(-1)).toMatchObject({ count: 1 });
    leave.abort("done");
    expect(await rejectionCode(Array.fromAsync(events))).toBe("done");
  });

  test.skipIf(process.platform !== "linux")(
    "an idle engine is not unloaded for memory that only its mapped files occupy",
    async () => {
      let free = 1e9;
      const memory = new MemoryBudget(() => free);
      const first = start({ memory, needBytes: 1 });
      await count(first, { to: 1 });
      await until(() => first.status().residentBytes > 0);
      free = 0;
      // Bun's executable is itself a mapped file.
      const second = start({ memory, needBytes: first.status().residentBytes });
      expect(await rejectionCode(count(second, { to: 1 }))).toBe("engine_unavailable");
      expect(first.status().state).toBe("ready");
    },
  );

  test("an engine that is kept does not count as idle between two jobs", async () => {
    let free = 1e9;
    const memory = new MemoryBudget(() => free);
    const [first, second] = [start({ memory, needBytes: 1, idleMs: 10 }), start({ memory, needBytes: 1 })];
    const release = first.keep();
    await count(first, { to: 1 });
    await Bun.sleep(40);
    free = 0;
    expect(await rejectionCode(count(second, { to: 1 }))).toBe("engine_unavailable");
    expect(first.status().state).toBe("ready");
    release();
    await until(() => first.status().state === "unloaded");
    expect(decisions).toEqual(["engine loaded: requested", "engine unloaded: idle"]);
  });

  test("an engine whose download outlasts the idle time claims its memory once, for the next job", async () => {
    const engines: Counter[] = [];
    // Memory for two of the engines.
    const memory = new MemoryBudget(() => 2 - engines.filter((one) => one.status().state === "ready").length);
    const idle = start({ memory, needBytes: 1 });
    const download = Promise.withResolvers<void>();
    const coming = start({ memory, needBytes: 1, idleMs: 10, prepare: () => download.promise });
    engines.push(idle, coming);
    await count(idle, { to: 1 });
    const leave = new AbortController();
    const left = rejectionCode(count(coming, { to: 1 }, leave.signal));
    leave.abort("gone");
    expect(await left).toBe("gone");
    await Bun.sleep(40);
    const counted = count(coming, { to: 2 });
    download.resolve();
    expect((await counted).at(-1)).toMatchObject({ count: 2 });
    expect(idle.status().state).toBe("ready");
  });

  test("a process that replaces a dead one needs free memory, too", async () => {
    let free = 1e9;
    const counter = start({ memory: new MemoryBudget(() => free), needBytes: 1 });
    await count(counter, { to: 1 });
    const [lost, kept] = [count(counter, { to: 1, crash: true }), count(counter, { to: 4 })];
    free = 0;
    expect(await Promise.all([rejectionCode(lost), rejectionCode(kept)])).toEqual([
      "engine_crashed",
      "engine_unavailable",
    ]);
    free = 1e9;
    expect((await count(counter, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
  });

  /** Memory for one process. */
  const narrow = () => {
    const before = childrenOf(process.pid).length;
    return { memory: new MemoryBudget(() => (childrenOf(process.pid).length > before ? 0 : 1e9)), needBytes: 1 };
  };

  test("a new process, of the same or another engine, waits until an unloading process has ended", async () => {
    const machine = narrow();
    const [first, second] = [start(machine), start(machine)];
    await count(first, { to: 1 });
    void first.unload();
    expect((await count(first, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
    void first.unload();
    expect((await count(second, { to: 3 })).at(-1)).toMatchObject({ count: 3 });
    second.retire();
    expect((await count(first, { to: 4 })).at(-1)).toMatchObject({ count: 4 });
  });

  test("a new process waits for one that is replaced because it does not stop an abandoned job", async () => {
    const counter = start({ ...narrow(), abortGraceMs: 10 });
    for await (const { type } of counter.run({ to: 1, hang: true }, live())) if (type === "started") break;
    expect((await count(counter, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
  });
});

test("an engine whose model is gone ends after its last job, however long idle ones stay", async () => {
  const memory = new MemoryBudget(() => 1e9);
  const [working, idle] = [start({ memory, needBytes: 1 }), start({ memory, needBytes: 1 })];
  await count(idle, { to: 1 });
  const leave = new AbortController();
  const events = await running(working, ENDLESS, leave.signal);
  for (const one of [working, idle]) one.retire();
  await until(() => idle.status().state === "unloaded");
  expect((await count(working, { to: 3 })).at(-1)).toMatchObject({ count: 3 });
  expect(working.status()).toMatchObject({ state: "ready", running: 1 });
  leave.abort("done");
  expect(await rejectionCode(Array.fromAsync(events))).toBe("done");
  await until(() => working.status().state === "unloaded");
  // A request that chose the engine before.
  expect((await count(working, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
  await until(() => working.status().state === "unloaded");
});
