// The supervisor of a real process that counts in native code: the features that all kinds of engines share.

import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../support/folders.ts";
import { childrenOf, openFiles } from "../../support/processes.ts";
import { TestClock } from "../../support/test-clock.ts";
import { rejectionCode } from "../../support/thrown.ts";
import { until } from "../../support/until.ts";
import type { CountingJob } from "./counting-kind.ts";
import {
  count,
  ENDLESS,
  errors,
  live,
  notes,
  PROGRAM,
  running,
  start,
  stopCounters,
  type Counter,
} from "./counters.ts";

afterEach(stopCounters);

describe("a lazy engine", () => {
  test("starts with its first job, reports progress, and keeps its process", async () => {
    const counter = start({ loadMs: 400 });
    expect(counter.status()).toMatchObject({
      state: "unloaded",
      restarts: 0,
      running: 0,
      waiting: 0,
      residentBytes: 0,
    });
    const first = count(counter, { to: 250_000 });
    expect(counter.status()).toMatchObject({ state: "loading", progress: 0 });
    await until(() => (counter.status().progress ?? 0) >= 0.5);
    expect(counter.status()).toMatchObject({ state: "loading", waiting: 1 });
    const events = await first;
    expect(events.map(({ type }) => type)).toEqual(["accepted", "started", "counted", "counted", "counted", "done"]);
    expect(events.at(-1)).toEqual({ type: "done", count: 250_000, cancelled: false });
    expect(counter.status()).toMatchObject({ state: "ready", running: 0, waiting: 0, restarts: 0 });
    expect(counter.status().residentBytes).toBeGreaterThan(1e6);
    expect((await count(counter, { to: 7 })).at(-1)).toMatchObject({ count: 7 });
    await Bun.sleep(10);
    expect(counter.status().state).toBe("ready");
    // Messages of the engine go to the log.
    expect(notes).toEqual(["warn beads"]);
  });

  test("is unloaded with its process when it is idle, and loaded again for the next job", async () => {
    const before = childrenOf(process.pid);
    const counter = start({ idleMs: 60 });
    await count(counter, { to: 1 });
    const endless = await running(counter);
    await Bun.sleep(150);
    expect(counter.status().state).toBe("ready");
    await endless.return();
    await until(() => counter.status().state === "unloaded");
    expect(counter.status().residentBytes).toBe(0);
    await until(() => childrenOf(process.pid).length === before.length);
    expect((await count(counter, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
    expect(counter.status().restarts).toBe(0);
  });

  test("is unloaded on request only while it is idle", async () => {
    const counter = start();
    const endless = await running(counter);
    expect([await counter.unloadIdle(), counter.status().state]).toEqual([false, "ready"]);
    await endless.return();
    expect([await counter.unloadIdle(), counter.status().state]).toEqual([true, "unloaded"]);
    expect((await count(counter, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
    const eager = start({ start: "eager" });
    eager.start();
    await eager.ready();
    expect([await eager.unloadIdle(), eager.status().state]).toEqual([false, "ready"]);
  });

  test("stops loading when no job waits for it any more", async () => {
    const counter = start({ loadMs: 5000, idleMs: 20 });
    const leave = new AbortController();
    const left = rejectionCode(count(counter, { to: 1 }, leave.signal));
    leave.abort("gone");
    expect(await left).toBe("gone");
    expect(counter.status().state).toBe("loading");
    await until(() => counter.status().state === "unloaded");
  });

  test("that cannot be loaded refuses waiting jobs, tells the operator why, and tries again", async () => {
    const counter = start({ loadMs: -1 });
    expect(await rejectionCode(count(counter, { to: 1 }))).toBe("engine_unavailable");
    expect(counter.status()).toMatchObject({ lastError: "/models/abacus could not be loaded: no such counter" });
    await until(() => counter.status().state === "unloaded");
    expect(await rejectionCode(count(counter, { to: 1 }))).toBe("engine_unavailable");
    expect(counter.status().state).toBe("failed");
  });

  test("whose file breaks later says that it cannot be loaded, until it can be again", async () => {
    let loadMs = 0;
    const clock = new TestClock();
    const counter = start({ clock, load: () => ({ loadMs }) });
    await count(counter, { to: 1 });
    await counter.unload();
    loadMs = -1;
    const message = async () => String(await count(counter, { to: 1 }).catch((error: unknown) => error));
    for (let times = 0; times < 2; times++) {
      expect(await message()).toContain("The model could not be loaded; it will be tried again.");
      clock.pass(120_000);
      expect(counter.status()).toMatchObject({ state: "unloaded", loadFails: true });
    }
    loadMs = 0;
    await count(counter, { to: 1 });
    expect(counter.status()).not.toHaveProperty("loadFails");
    await count(counter, { to: 1, crash: true }).catch(() => {});
    expect(counter.status()).not.toHaveProperty("loadFails");
  });

  test("whose options cannot be created refuses without the reason", async () => {
    const counter = start({
      load: () => {
        throw new Error("the disk is full");
      },
    });
    const refused = await count(counter, { to: 1 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "engine_unavailable" });
    expect(String(refused)).not.toContain("disk");
    expect(counter.status().lastError).toBe("the disk is full");
    expect(errors).toEqual([
      {
        message: "engine cannot be started",
        fields: { kind: "counting", model: "abacus", reason: "the disk is full" },
      },
    ]);
  });

  test("keeps a job waiting no longer than the load timeout", async () => {
    const counter = start({ loadMs: 5000, loadTimeoutMs: 50 });
    expect(await rejectionCode(count(counter, { to: 1 }))).toBe("engine_unavailable");
  });
});

describe("an eager engine", () => {
  test("is ready before its first job, and never unloaded", async () => {
    const counter = start({ start: "eager", idleMs: 20 });
    await counter.ready();
    await count(counter, { to: 1 });
    await Bun.sleep(80);
    expect(counter.status().state).toBe("ready");
  });

  test("that cannot be loaded is not tried again, whether or not a job waits for it", async () => {
    const unwatched = start({ start: "eager", loadMs: -1 });
    expect(await rejectionCode(count(unwatched, { to: 1 }))).toBe("engine_unavailable");
    expect(unwatched.status().state).toBe("failed");
    const counter = start({ start: "eager", loadMs: -1 });
    await expect(counter.ready()).rejects.toThrow("no such counter");
    expect(counter.status()).toMatchObject({ state: "failed", restarts: 0 });
    const refused = await count(counter, { to: 1 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "engine_unavailable" });
    expect(refused).not.toHaveProperty("details.retryAfterSeconds");
  });
});

describe("a job", () => {
  test("that is cancelled by its id ends with its result so far, and others go on", async () => {
    const counter = start();
    const events = await running(counter, ENDLESS, live(), "c");
    const other = count(counter, { to: 3 });
    counter.cancel("c", "id");
    const rest = await Array.fromAsync(events);
    expect(rest.at(-1)).toMatchObject({ type: "done", cancelled: true });
    expect((await other).at(-1)).toMatchObject({ count: 3 });
  });

  test("that is aborted throws the signal's reason at once, and its computation stops", async () => {
    const counter = start();
    const leave = new AbortController();
    const events = await running(counter, ENDLESS, leave.signal);
    leave.abort("gone");
    expect(await rejectionCode(Array.fromAsync(events))).toBe("gone");
    // The engine computes one job at a time, so this one runs only because the other has stopped.
    expect((await count(counter, { to: 3 })).at(-1)).toMatchObject({ count: 3 });
    expect(counter.status()).toMatchObject({ running: 0, waiting: 0 });
  });
});

describe("a process that dies", () => {
  test("fails the job that it computed; jobs not begun go to the next process", async () => {
    const counter = start();
    await count(counter, { to: 1 });
    const [lost, kept] = [count(counter, { to: 1, crash: true }), count(counter, { to: 4 })];
    expect(await rejectionCode(lost)).toBe("engine_crashed");
    expect((await kept).map(({ type }) => type)).toEqual(["accepted", "started", "counted", "done"]);
    expect(counter.status()).toMatchObject({ state: "ready", restarts: 1 });
    expect(counter.status().lastError).toMatch(/was killed by signal|ended with code/);
  });

  test("passes a job that arrives before its exit is noticed to the next process", async () => {
    const before = childrenOf(process.pid);
    // The supervisor waits briefly for last output while another process holds stderr open.
    const held = ["sh", "-c", 'sleep 2 3>&- & exec "$0" "$@"', process.execPath, PROGRAM];
    const counter = start({ command: held });
    await count(counter, { to: 1 });
    const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
    process.kill(pid, "SIGKILL");
    await until(() => !childrenOf(process.pid).includes(pid));
    expect(counter.status().state).toBe("ready");
    expect((await count(counter, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
  });

  test("by kill -9 midway is reported and replaced, and leaves nothing behind", async () => {
    const before = childrenOf(process.pid);
    const counter = start({ start: "eager" });
    await counter.ready();
    const files = openFiles(process.pid);
    const events = await running(counter);
    const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
    process.kill(pid, "SIGKILL");
    const lost = await Array.fromAsync(events).catch((error: unknown) => error);
    expect(lost).toMatchObject({ code: "engine_crashed", message: expect.stringContaining("SIGKILL") });
    const how = "by signal SIGKILL";
    expect(errors).toEqual([
      {
        message: "engine process ended",
        fields: {
          kind: "counting",
          model: "abacus",
          how,
          reason: "The engine process was killed by signal SIGKILL.",
          restart_in_ms: 0,
        },
      },
    ]);
    expect((await count(counter, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
    expect(counter.status()).toMatchObject({ restarts: 1, running: 0, waiting: 0 });
    await until(() => openFiles(process.pid) <= files);
    expect(childrenOf(process.pid).length).toBe(before.length + 1);
  });

  test.each(["lazy", "eager"] as const)(
    "repeatedly (%s) without finishing a job is restarted after a delay, with Retry-After",
    async (how) => {
      let ended = 0;
      const clock = new TestClock();
      const counter = start({ start: how, clock, onExit: () => ended++ });
      await count(counter, { to: 1 });
      expect(await rejectionCode(count(counter, { to: 1, crash: true }))).toBe("engine_crashed");
      expect(await rejectionCode(count(counter, { to: 1, crash: true }))).toBe("engine_crashed");
      expect(counter.status()).toMatchObject({ state: "failed", restarts: 1, residentBytes: 0 });
      expect(ended).toBe(2);
      const refusedFor = async (retryAfterSeconds: number) => {
        const refused = await count(counter, { to: 1 }).catch((error: unknown) => error);
        expect(refused).toMatchObject({ code: "engine_unavailable", details: { retryAfterSeconds } });
      };
      await refusedFor(1);
      clock.pass(1000);
      await until(() => counter.status().state === (how === "lazy" ? "unloaded" : "ready"));
      // A process that finished a job is restarted at once.
      expect((await count(counter, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
      expect(await rejectionCode(count(counter, { to: 1, crash: true }))).toBe("engine_crashed");
      expect(await rejectionCode(count(counter, { to: 1, crash: true }))).toBe("engine_crashed");
      await refusedFor(1);
    },
  );
});

describe("a process that goes on computing an abandoned job", () => {
  /** Starts a job and resolves when its computation has begun. */
  async function begun(counter: Counter, job: CountingJob, signal: AbortSignal) {
    const events = counter.run(job, signal);
    for await (const { type } of events) if (type === "started") return;
  }

  test("is replaced at once without counting as failed, and waiting jobs go to the next process", async () => {
    const before = childrenOf(process.pid);
    const counter = start({ abortGraceMs: 30 });
    await begun(counter, { to: 1, hang: true }, live());
    // Ending the iteration abandons the job.
    expect((await count(counter, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
    expect(counter.status()).toMatchObject({ state: "ready", restarts: 0, running: 0, waiting: 0 });
    expect(counter.status().lastError).toBeUndefined();
    expect(errors).toEqual([]);
    await until(() => childrenOf(process.pid).length === before.length + 1);
  });

  test("is kept when it stops in time", async () => {
    const before = childrenOf(process.pid);
    const graceMs = 1000;
    const counter = start({ abortGraceMs: graceMs });
    const leave = new AbortController();
    await running(counter, ENDLESS, leave.signal);
    const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
    leave.abort("gone");
    expect((await count(counter, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
    await Bun.sleep(graceMs + 100);
    expect(childrenOf(process.pid)).toContain(pid);
  });
});

test("a file that was replaced while no process had it is logged before it is loaded again, once", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "abacus.gguf");
  writeFileSync(file, "one");
  const counter = start({ files: [file, join(folder, "absent.gguf")] });
  const again = async () => {
    await count(counter, { to: 1 });
    await counter.unload();
    return notes.filter((note) => note.includes("replaced"));
  };
  expect(await again()).toEqual([]);
  writeFileSync(file, "another one");
  const told = await again();
  expect(told).toEqual([expect.stringMatching(/^warn model file was replaced/)]);
  expect(await again()).toEqual(told);
});

test("a process that dies while loading a file is reported with the file", async () => {
  const counter = start({ start: "eager", crash: true });
  await expect(counter.ready()).rejects.toThrow(
    "/models/abacus could not be loaded: The engine process was killed by signal SIGSEGV while loading.",
  );
});

test("stopping refuses new jobs, ends running ones, and resolves when the process has ended; none is started afterwards", async () => {
  const before = childrenOf(process.pid);
  let ended = false;
  const counter = start({ onExit: () => (ended = true) });
  const events = await running(counter);
  const stopped = counter.stop();
  expect(await rejectionCode(Array.fromAsync(events))).toBe("shutting_down");
  expect(await rejectionCode(count(counter, { to: 1 }))).toBe("shutting_down");
  await stopped;
  expect(counter.status().state).toBe("stopped");
  await until(() => ended);
  await Bun.sleep(10);
  expect(counter.status()).not.toHaveProperty("lastError");
  expect(childrenOf(process.pid)).toEqual(before);
});

test("stopping while the process reports ready leaves no process", async () => {
  const before = childrenOf(process.pid);
  const stopped = Promise.withResolvers<void>();
  const onReady = () => void counter.stop().then(stopped.resolve);
  const counter: Counter = start({ start: "eager", onReady });
  await stopped.promise;
  await Bun.sleep(20);
  expect(counter.status()).toMatchObject({ state: "stopped", restarts: 0 });
  expect(childrenOf(process.pid)).toEqual(before);
});

test("stopping between the end of one process and the start of the next leaves no process", async () => {
  const before = childrenOf(process.pid);
  const stopped = Promise.withResolvers<void>();
  // The next process would start when timers run.
  const onExit = () => queueMicrotask(() => counter.stop().then(stopped.resolve));
  const counter: Counter = start({ start: "eager", onExit });
  await counter.ready();
  const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
  process.kill(pid, "SIGKILL");
  await stopped.promise;
  await Bun.sleep(20);
  expect(counter.status()).toMatchObject({ state: "stopped", restarts: 0 });
  expect(childrenOf(process.pid)).toEqual(before);
});
