import { expect, test } from "bun:test";
import type { Timers } from "../../../src/domain/clock.ts";
import { Watchdog, type Pulse } from "../../../src/engine/process/watchdog.ts";

/** A clock that stands still but for this. */
class SteppedClock implements Timers {
  private ms = 0;
  private due: { readonly at: number; readonly act: () => void } | undefined;
  readonly now = () => this.ms;
  readonly wall = () => 1_000_000 + this.ms;

  after(ms: number, act: () => void): () => void {
    this.due = { at: this.ms + ms, act };
    return () => (this.due = undefined);
  }

  /** Seconds pass one after the other. */
  pass(seconds: number): void {
    for (let second = 0; second < seconds; second++) this.jump(1);
  }

  /** They pass at once. */
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

test("a computation is given up by what it had of a processor, however long that takes, and where that is unknown by time", () => {
  const given: string[] = [];
  /** Given up after so many seconds with a share of a processor. */
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

test("an engine is stalled after ten silent seconds, back when it is heard, and given up at the limit, once", () => {
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

test("one that computes for long without a word is given that time as well", () => {
  const { clock, told, watchdog } = watch(60_000, undefined, 120_000);
  clock.pass(129);
  expect(told).toEqual([]);
  clock.pass(2);
  expect([told, watchdog.retryMs]).toEqual([["stalled: "], 10_000]);
  clock.pass(100);
  expect(told).toEqual(["stalled: ", "given up after 180000"]);
});

test("what is heard of an engine after it was given up does not bring it back", () => {
  const { clock, told, watchdog } = watch(60_000);
  clock.pass(60);
  watchdog.heard();
  expect(watchdog.stalledSince).toBe(1_000_000);
  expect(told).toEqual(["stalled: ", "given up after 60000"]);
});

test("a long computation is no silence as long as it moves on, and what hangs is named", () => {
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

test("what this process missed itself, because it or the machine stood still, is not held against the engine", () => {
  const { clock, told, watchdog } = watch(60_000);
  clock.jump(86_400);
  expect([watchdog.silentMs, told]).toEqual([1000, []]);
});

test("without a limit it is never given up; with a short one it is stalled halfway", () => {
  const patient = watch(0);
  patient.clock.pass(1000);
  expect(patient.told).toEqual(["stalled: "]);
  expect(patient.watchdog.retryMs).toBe(10_000);
  const short = watch(6000);
  short.clock.pass(3);
  expect(short.told).toEqual(["stalled: "]);
  expect(short.watchdog.retryMs).toBe(3000);
});

test("silence counts from the last sign, not from the last look before it", () => {
  const { clock, told, watchdog } = watch(3000);
  for (let second = 0; second < 20; second++) {
    clock.jump(0.9);
    watchdog.heard();
    clock.jump(0.1);
  }
  expect([watchdog.silentMs, told]).toEqual([100, []]);
});

test("what is stopped says nothing more", () => {
  const { clock, told, watchdog } = watch(60_000);
  watchdog.stop();
  clock.pass(100);
  expect(told).toEqual([]);
});
