// Which sequence is preempted for another client, and when.

import { expect, test } from "bun:test";
import { FakeEngine, LIMITS } from "./fake-engine.ts";

/** A decode step takes 10 ms, a prompt token 1 ms. */
const cost = (decodeRows: number, prefillRows: number) => (decodeRows > 0 ? 10 : 0) + prefillRows;
const fresh = () => new FakeEngine({ ...LIMITS, cells: 100_000, sequences: 8, parallel: 4 }, cost);

test("a client with more than its share is preempted, not the client that came last", () => {
  const engine = fresh();
  for (const key of [1, 2, 3]) engine.add(key, 20, 300, "flood");
  engine.add(4, 20, 300, "single");
  while (engine.now < 1000) engine.step();
  engine.add(5, 20, 100, "newcomer");
  engine.run(100_000);
  expect(engine.scheduler.preemptions).toBe(1);
  const gaps = [1, 2, 3, 4].map((key) => engine.longestGap(key));
  expect(gaps.map((gap) => gap > 500)).toEqual([false, false, true, false]);
});

test("a request is preempted only after it has run for a quarter of a second", () => {
  const engine = fresh();
  for (const key of [1, 2, 3, 4]) engine.add(key, 5, 300, "flood");
  engine.step();
  engine.add(5, 5, 10, "newcomer");
  engine.run(100_000);
  const first = engine.jobs.get(5)?.tokenAt[0] ?? Number.NaN;
  expect(first).toBeGreaterThanOrEqual(250);
  expect(first).toBeLessThan(350);
});

test("no request is preempted for one that would still not fit", () => {
  const engine = new FakeEngine({ ...LIMITS, cells: 1000, parallel: 8 }, cost);
  for (const key of [1, 2, 3]) engine.add(key, 150, 70, "flood");
  engine.add(4, 250, 70, "single");
  while (engine.output(4).length === 0) engine.step();
  engine.now += 500;
  engine.add(5, 600, 10, "large");
  const said = [1, 2, 3, 4].map((key) => engine.output(key).length);
  for (const until = engine.now + 500; engine.now < until;) engine.step();
  expect(engine.scheduler.preemptions).toBe(0);
  expect([1, 2, 3, 4].map((key, at) => engine.output(key).length - (said[at] ?? 0) > 40)).toEqual(Array(4).fill(true));
  engine.run();
  expect(engine.output(5).length).toBe(10);
});

test("no request is preempted for a client that would then have as many as the client with most", () => {
  const engine = fresh();
  for (const [at, client] of ["two", "two", "one", "another"].entries()) engine.add(at + 1, 20, 300, client);
  while (engine.now < 1000) engine.step();
  engine.add(5, 20, 10, "one");
  engine.run(100_000);
  expect(engine.scheduler.preemptions).toBe(0);
});
