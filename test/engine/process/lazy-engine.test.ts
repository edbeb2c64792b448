// Several counting processes that act as one engine.

import { afterEach, expect, test } from "bun:test";
import { MemoryBudget } from "../../../src/engine/process/memory-budget.ts";
import type { ProcessStatus } from "../../../src/domain/process-status.ts";
import { processMetrics } from "../../../src/engine/process/status.ts";
import { childrenOf } from "../../support/processes.ts";
import { TestClock } from "../../support/test-clock.ts";
import { rejectionCode } from "../../support/thrown.ts";
import { count, running, startEngine, stopCounters } from "./counters.ts";

afterEach(stopCounters);

const stalledGauge = (status: ProcessStatus) =>
  processMetrics(status).find(({ name }) => name === "svc_engine_stalled")?.samples[0]?.[1];

test("each process starts when the earlier ones have work, and a job goes to the one with the least", async () => {
  const before = childrenOf(process.pid).length;
  const started = () => childrenOf(process.pid).length - before;
  const engine = startEngine(2);
  for (const to of [1, 2]) await count(engine, { to });
  expect(started()).toBe(1);
  const first = await running(engine);
  const second = await running(engine);
  expect([started(), engine.status()]).toMatchObject([2, { state: "ready", running: 2, waiting: 0 }]);
  await first.return();
  expect((await count(engine, { to: 3 })).at(-1)).toMatchObject({ count: 3 });
  expect(engine.status().running).toBe(1);
  await second.return();
});

test("a stalled process is reported while another one takes the next jobs", async () => {
  const before = childrenOf(process.pid);
  const clock = new TestClock();
  const engine = startEngine(2, { clock, engineTimeoutMs: 3_600_000 });
  const events = await running(engine, { to: 3_000_000 });
  const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
  process.kill(pid, "SIGSTOP");
  // Messages sent before the stop arrive meanwhile.
  for (; engine.status().stalledSince === undefined; await Bun.sleep(5)) clock.pass(1000);
  expect((await count(engine, { to: 4 })).at(-1)).toMatchObject({ count: 4 });
  const stalled = engine.status();
  process.kill(pid, "SIGCONT");
  expect(stalled).toMatchObject({ state: "ready", running: 1, stalledSince: expect.any(Number) });
  expect(stalledGauge(stalled)).toBe(1);
  expect((await Array.fromAsync(events)).at(-1)).toMatchObject({ count: 3_000_000 });
  expect(stalledGauge(engine.status())).toBe(0);
});

test("a process that keeps dying is reported, and the other one takes the next jobs", async () => {
  const engine = startEngine(2, { clock: new TestClock() });
  for (let death = 0; death < 2; death++) {
    expect(await rejectionCode(count(engine, { to: 1, crash: true }))).toBe("engine_crashed");
  }
  expect(engine.status()).toMatchObject({
    state: "unloaded",
    lastError: expect.stringContaining("engine process was killed by signal"),
  });
  expect((await count(engine, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
});

test("when memory is short, jobs are refused only if the first process cannot run them either", async () => {
  const before = childrenOf(process.pid).length;
  let some = 0;
  const engine = startEngine(2, {
    needBytes: 1,
    memory: new MemoryBudget(() => (childrenOf(process.pid).length > before ? 0 : some)),
  });
  expect(await rejectionCode(count(engine, { to: 1 }))).toBe("engine_unavailable");
  some = 1e9;
  const events = await running(engine);
  expect((await count(engine, { to: 6 })).at(-1)).toMatchObject({ count: 6 });
  await events.return();
});
