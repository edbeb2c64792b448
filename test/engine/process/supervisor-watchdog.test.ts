// The supervisor of a process that hangs.

import { afterEach, describe, expect, test } from "bun:test";
import { childrenOf } from "../../support/processes.ts";
import { TestClock } from "../../support/test-clock.ts";
import { rejectionCode } from "../../support/thrown.ts";
import { until } from "../../support/until.ts";
import type { CountingEvent } from "./counting-kind.ts";
import { count, errors, live, notes, running, start, stopCounters, type Counter } from "./counters.ts";

afterEach(stopCounters);

describe("a process that hangs", () => {
  /** Advances the clock second by second until the condition holds. */
  const passUntil = async (clock: TestClock, holds: () => boolean) => {
    for (; !holds(); await Bun.sleep(1)) clock.pass(1000);
  };
  const stop = (counter: Counter, before: readonly number[]) => {
    const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
    process.kill(pid, "SIGSTOP");
    return { goOn: () => process.kill(pid, "SIGCONT"), stalled: () => counter.status().state === "stalled" };
  };

  test("is reported as stalled, refuses new jobs, and loses nothing when it continues", async () => {
    const before = childrenOf(process.pid);
    const clock = new TestClock();
    const counter = start({ clock, engineTimeoutMs: 3_600_000 });
    const events = await running(counter, { to: 3_000_000 });
    const { goOn, stalled } = stop(counter, before);
    await passUntil(clock, stalled);
    const status = counter.status();
    expect(status).toMatchObject({ state: "stalled", running: 1, restarts: 0 });
    expect(clock.wall() - (status.stalledSince ?? 0)).toBeGreaterThanOrEqual(10_000);
    const refused = await count(counter, { to: 1 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "engine_unavailable", details: { retryAfterSeconds: 10 } });
    for (let seconds = 0; seconds < 100; seconds++) clock.pass(1000);
    goOn();
    expect((await Array.fromAsync(events)).at(-1)).toEqual({ type: "done", count: 3_000_000, cancelled: false });
    expect(counter.status()).toMatchObject({ state: "ready", restarts: 0 });
    expect(counter.status()).not.toHaveProperty("stalledSince");
    expect((await count(counter, { to: 3 })).at(-1)).toMatchObject({ count: 3 });
    expect(notes).toEqual(["warn beads", "warn engine stalled", "warn engine recovered"]);
  });

  test("is killed after the limit: its job fails, and others go to the next process", async () => {
    const clock = new TestClock();
    const counter = start({ clock, engineTimeoutMs: 60_000 });
    await count(counter, { to: 1 });
    const [lost, kept] = [count(counter, { to: 1, hang: true }), count(counter, { to: 4 })];
    let failed: unknown;
    lost.catch((error: unknown) => (failed = error));
    await until(() => counter.status().running === 1);
    await passUntil(clock, () => failed !== undefined);
    expect(failed).toMatchObject({
      code: "engine_crashed",
      message: "The model engine gave no sign of life for 60 s while computing this request.",
    });
    expect((await kept).at(-1)).toMatchObject({ count: 4 });
    const reason = "The engine process gave no sign of life for 60 s and was killed.";
    expect(counter.status()).toMatchObject({ state: "ready", restarts: 1, lastError: reason });
    expect(errors).toEqual([{ message: "engine process ended", fields: expect.objectContaining({ reason }) }]);
  });

  const neverComputed = (): CountingEvent[] => [{ type: "done", count: -1, cancelled: true }];

  test("still ends a job that is cancelled", async () => {
    const clock = new TestClock();
    const counter = start({ clock, neverComputed });
    let events: unknown[] | undefined;
    void count(counter, { to: 1, hang: true }, live(), "c").then((all) => (events = all));
    await until(() => counter.status().running === 1);
    counter.cancel("c", "id");
    for (let second = 0; second < 10; second++) clock.pass(1000);
    await until(() => events !== undefined);
    expect(events?.slice(2)).toEqual(neverComputed());
    expect(counter.status().running).toBe(0);
  });

  test("and is killed fails no job that was cancelled before", async () => {
    const before = childrenOf(process.pid);
    const counter = start({ neverComputed });
    const events = count(counter, { to: 1, hang: true }, live(), "c");
    await until(() => counter.status().running === 1);
    counter.cancel("c", "id");
    const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
    process.kill(pid, "SIGKILL");
    expect((await events).slice(2)).toEqual(neverComputed());
  });

  test("in a computation that should report progress is replaced early, which fails only its job", async () => {
    const clock = new TestClock();
    const counter = start({ clock, engineTimeoutMs: 60_000, longestSilenceMs: 15_000 });
    let isOver = false;
    const hung = rejectionCode(count(counter, { to: 1, hang: true })).finally(() => (isOver = true));
    const kept = count(counter, { to: 4 });
    await until(() => counter.status().running === 1);
    await passUntil(clock, () => isOver);
    expect([await hung, (await kept).at(-1)]).toMatchObject(["engine_crashed", { count: 4 }]);
    expect([errors, counter.status()]).toMatchObject([[], { state: "ready", restarts: 0 }]);
  });

  test("while loading is killed after the limit without progress, and the error names the file", async () => {
    const clock = new TestClock();
    const counter = start({ start: "eager", loadMs: 4_000_000, clock, engineTimeoutMs: 60_000 });
    const failed = counter.ready().catch((error: unknown) => error);
    // The process is loading by this time.
    await until(() => notes.includes("warn beads"));
    await passUntil(clock, () => counter.status().state === "failed");
    expect(String(await failed)).toContain(
      "/models/abacus could not be loaded: The engine process made no progress for 60 s while loading and was killed.",
    );
  });

  /** Kills the engine before its earlier messages are read, because this process was blocked. */
  const killUnheard = (clock: TestClock) => {
    Bun.sleepSync(1500);
    for (let seconds = 0; seconds < 60; seconds++) clock.pass(1000);
  };

  test("does not count as recovered because of messages sent before it was killed", async () => {
    const clock = new TestClock();
    const counter = start({ clock, engineTimeoutMs: 60_000 });
    await count(counter, { to: 1 });
    killUnheard(clock);
    const states = new Set<string>();
    await until(() => {
      const { state, lastError } = counter.status();
      if (lastError === undefined) states.add(state);
      return lastError !== undefined;
    });
    expect([...states]).toEqual(["stalled"]);
    expect(notes).not.toContain("warn engine recovered");
  });

  test("while loading does not count as ready because of messages sent before it was killed", async () => {
    const clock = new TestClock();
    // Long enough for this process to notice that it began, and short enough to end while this one is blocked.
    const counter = start({ start: "eager", loadMs: 500, clock, engineTimeoutMs: 60_000 });
    const failed = counter.ready().catch((error: unknown) => error);
    await until(() => notes.includes("warn beads"));
    killUnheard(clock);
    expect(String(await failed)).toContain("made no progress for 60 s while loading and was killed");
  });

  test("is not watched any more once it is dead; only its successor is", async () => {
    const clock = new TestClock();
    const counter = start({ clock, engineTimeoutMs: 60_000 });
    await count(counter, { to: 1 });
    expect(await rejectionCode(count(counter, { to: 1, crash: true }))).toBe("engine_crashed");
    for (let round = 0; round < 3; round++) {
      await count(counter, { to: 1 });
      for (let seconds = 0; seconds < 6; seconds++) clock.pass(1000);
    }
    expect(notes).not.toContain("warn engine stalled");
  });

  test("is not assumed when this process or the whole machine was suspended", async () => {
    const clock = new TestClock();
    const counter = start({ clock, engineTimeoutMs: 60_000 });
    await count(counter, { to: 1 });
    clock.pass(3_600_000);
    expect(counter.status().state).toBe("ready");
    expect((await count(counter, { to: 2 })).at(-1)).toMatchObject({ count: 2 });
    expect(counter.status().restarts).toBe(0);
  });
});
