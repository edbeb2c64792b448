import { expect, test } from "bun:test";
import type { Timers } from "../../../src/domain/clock.ts";
import { Watchdog, type Pulse } from "../../../src/engine/process/watchdog.ts";

/** A clock that moves only when told to. */
class SteppedClock implements Timers {
  private ms = 0;
  private due: { readonly at: number; readonly act: () => void } | undefined;
  readonly now = () => this.ms;
  readonly wall = () => 1_000_000 + this.ms;

  after(ms: number, act: () => void): () => void {
    this.due = { at: this.ms + ms, act };
    return () => (this.due = undefined);
  }

  /** Advances second by second. */
  pass(seconds: number): void {
    for (let second = 0; second < seconds; second++) this.jump(1);
  }

  /** Advances by all seconds at once. */
  jump(seconds: number): void {
    this.ms += 1000 * seconds;
    const { due } = this;
    if (!due || due.at > this.ms) return;
    this.due = undefined;
    due.act();
  }
}

function watch(limitMs: number, pulse: () => Pulse | undefined = () => undefined, quietMs = 0) {
  const clock = new SteppedClock();
  const told: string[] = [];
  const watchdog = new Watchdog({
    clock,
    limitMs,
    quietMs,
    longestComputingMs: Infinity,
    processorMs: () => undefined,
    pulse,
    onStalled: () => told.push(`stalled: ${watchdog.work}`),
    onRecovered: (ms) => told.push(`back after ${ms}`),
    onTimeout: () => told.push(`given up after ${watchdog.silentMs}`),
  });
  return { clock, told, watchdog };
}

test("a computation is given up after its processor time, or after elapsed time when that is unknown", () => {
  const given: string[] = [];
  /** Returns after how many seconds the engine is given up when it gets this share of a processor. */
  const after = (share: number | undefined) => {
    const clock = new SteppedClock();
    let seconds = 0;
    let end: number | undefined;
    new Watchdog({
      clock,
      limitMs: 60_000,
      quietMs: 0,
      longestComputingMs: 15_000,
      processorMs: () => share && clock.now() * share,
      pulse: () => undefined,
      onStalled() {},
      onRecovered() {},
      onTimeout: (hasComputed) => {
        end = seconds;
        given.push(hasComputed ? "computed" : "silent");
      },
    });
    while (end === undefined) {
      seconds++;
      clock.pass(1);
    }
    return end;
  };
  expect([1, 2, 0.5, undefined, 0.1].map(after)).toEqual([15, 15, 30, 15, 60]);
  expect(given).toEqual(["computed", "computed", "computed", "computed", "silent"]);
});

test("an engine is stalled after ten silent seconds, recovers when it is heard, and is given up at the limit, once", () => {
  const { clock, told, watchdog } = watch(60_000);
  clock.pass(9);
  watchdog.heard();
  clock.pass(9);
  expect(told).toEqual([]);
  clock.pass(3);
  expect(watchdog.stalledSince).toBe(1_009_000);
  watchdog.heard();
  expect(watchdog.stalledSince).toBeUndefined();
  clock.pass(100);
  expect(told).toEqual(["stalled: ", "back after 12000", "stalled: ", "given up after 60000"]);
});

test("the time allowed for a long silent computation is added to the limits", () => {
  const { clock, told, watchdog } = watch(60_000, undefined, 120_000);
  clock.pass(129);
  expect(told).toEqual([]);
  clock.pass(2);
  expect([told, watchdog.retryMs]).toEqual([["stalled: "], 10_000]);
  clock.pass(100);
  expect(told).toEqual(["stalled: ", "given up after 180000"]);
});

test("a message after the engine was given up does not bring it back", () => {
  const { clock, told, watchdog } = watch(60_000);
  clock.pass(60);
  watchdog.heard();
  expect(watchdog.stalledSince).toBe(1_000_000);
  expect(told).toEqual(["stalled: ", "given up after 60000"]);
});

test("a long computation that makes progress is not silence, and the work that hangs is named", () => {
  let moved = true;
  const { clock, told, watchdog } = watch(60_000, () => ({ moved, work: "decoding a step" }));
  clock.pass(1000);
  expect(told).toEqual([]);
  moved = false;
  clock.pass(10);
  expect(told).toEqual(["stalled: decoding a step"]);
  moved = true;
  clock.pass(1);
  expect(watchdog.stalledSince).toBeUndefined();
});

test("time in which this process or the machine was suspended does not count against the engine", () => {
  const { clock, told, watchdog } = watch(60_000);
  clock.jump(86_400);
  expect([watchdog.silentMs, told]).toEqual([1000, []]);
});

test("without a limit an engine is never given up; with a short one it is stalled halfway", () => {
  const patient = watch(0);
  patient.clock.pass(1000);
  expect(patient.told).toEqual(["stalled: "]);
  expect(patient.watchdog.retryMs).toBe(10_000);
  const short = watch(6000);
  short.clock.pass(3);
  expect(short.told).toEqual(["stalled: "]);
  expect(short.watchdog.retryMs).toBe(3000);
});

test("silence counts from the last message, not from the last check before it", () => {
  const { clock, told, watchdog } = watch(3000);
  for (let second = 0; second < 20; second++) {
    clock.jump(0.9);
    watchdog.heard();
    clock.jump(0.1);
  }
  expect([watchdog.silentMs, told]).toEqual([100, []]);
});

test("a stopped watchdog reports nothing more", () => {
  const { clock, told, watchdog } = watch(60_000);
  watchdog.stop();
  clock.pass(100);
  expect(told).toEqual([]);
});
