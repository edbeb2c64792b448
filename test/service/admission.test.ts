// Which clients get the places of a model.

import { expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { Admission } from "../../src/service/admission.ts";
import { TestClock } from "../support/test-clock.ts";

const metrics = { rejected() {} };

/** Each request is estimated to take 2 s; `enter` takes as many of `count` places as the client gets. */
function setUp(parallel: number, maxQueue: number) {
  const clock = new TestClock();
  const admission = new Admission(parallel, maxQueue, () => 2000, clock);
  const enter = (client: string, count = 1): number => {
    let taken = 0;
    for (; taken < count && admission.hasCapacity(1, client); taken++) admission.enter(1, metrics, client);
    return taken;
  };
  const refusal = (client: string): unknown => {
    try {
      admission.enter(1, metrics, client);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const leave = (client: string, count = 1) => {
    for (let left = 0; left < count; left++) admission.leave(1, 1, client);
  };
  return { clock, enter, leave, refusal };
}

test("one client alone may have all places", () => {
  const { enter, leave } = setUp(32, 256);
  expect(enter("one", 300)).toBe(288);
  leave("one", 288);
  expect(enter("one", 300)).toBe(288);
});

test("a client that was refused finds a place later, although another repeats each request that ends", () => {
  const { clock, enter, leave, refusal } = setUp(2, 6);
  enter("greedy", 8);
  expect(refusal("late")).toMatchObject({ code: "server_busy", details: { retryAfterSeconds: 2 } });
  leave("greedy");
  const message =
    "The queue is more than half full, and this client has its share of it: 7 of 8 running and waiting requests.";
  // Two more must end until the queue is half full; a request that took 1 ms made the mean 1.6 s for two of them.
  expect(refusal("greedy")).toEqual(new SvcError("server_busy", message, { retryAfterSeconds: 4 }));
  clock.pass(61_000);
  expect(enter("greedy")).toBe(0);
  expect(enter("late")).toBe(1);
  leave("late");
  clock.pass(1000);
  expect(enter("greedy", 5)).toBe(1);
});

test("a client that has its share is told when enough of its requests have ended", () => {
  const { enter, leave, refusal } = setUp(4, 256);
  enter("greedy", 260);
  expect(refusal("late")).toMatchObject({ details: { retryAfterSeconds: 2 } });
  leave("greedy");
  enter("late");
  // The queue is half full after 129 ends, and the first is estimated apart.
  expect(refusal("greedy")).toMatchObject({ details: { retryAfterSeconds: Math.ceil(2 + 128 * 0.4001) } });
});

test("clients share the places once the queue is more than half full", () => {
  const { enter, leave } = setUp(32, 256);
  enter("chat");
  // All that are computed, and half of the queue.
  expect(enter("greedy", 300)).toBe(159);
  expect(enter("other", 300)).toBe(96);
  expect(enter("chat", 300)).toBe(32);
  expect(["greedy", "other"].map((client) => enter(client))).toEqual([0, 0]);
  leave("chat", 33);
  leave("other", 96);
  expect(enter("greedy", 300)).toBe(129);
});
