// An engine that needs something downloaded or installed before its process can start.

import { afterEach, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { childrenOf } from "../../support/processes.ts";
import { TestClock } from "../../support/test-clock.ts";
import { rejectionCode } from "../../support/thrown.ts";
import { count, start, stopCounters } from "./counters.ts";

afterEach(stopCounters);

test("the engine waits for the preparation, once for all jobs", async () => {
  const brought = Promise.withResolvers<void>();
  let isThere = false;
  const counter = start({ prepare: () => (isThere ? undefined : brought.promise) });
  const both = Promise.all([count(counter, { to: 3 }), count(counter, { to: 4 })]);
  expect(counter.status()).toMatchObject({ state: "loading", progress: 0, waiting: 2, residentBytes: 0 });
  isThere = true;
  brought.resolve();
  expect((await both).map((events) => events.at(-1))).toMatchObject([{ count: 3 }, { count: 4 }]);
  expect(counter.status()).toMatchObject({ state: "ready", restarts: 0 });
});

test("jobs are refused with the error of the preparation, which is retried with the next job", async () => {
  const faults = [
    () => Promise.reject(new SvcError("storage_full", "no room")),
    () => Promise.reject(new Error("a bug")),
    () => {
      throw new SvcError("mode_unavailable", "not allowed");
    },
    () => undefined,
  ];
  const counter = start({ prepare: () => faults.shift()?.() });
  expect(await rejectionCode(count(counter, { to: 1 }))).toBe("storage_full");
  expect(counter.status().state).toBe("unloaded");
  expect(await rejectionCode(count(counter, { to: 1 }))).toBe("engine_unavailable");
  expect(await rejectionCode(count(counter, { to: 1 }))).toBe("mode_unavailable");
  expect((await count(counter, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
});

test("stopping meanwhile starts no process and aborts the preparation", async () => {
  const brought = Promise.withResolvers<void>();
  const before = childrenOf(process.pid).length;
  let signal: AbortSignal | undefined;
  const counter = start({
    prepare(ends) {
      signal = ends;
      return brought.promise;
    },
  });
  const refused = rejectionCode(count(counter, { to: 1 }));
  await counter.stop();
  expect(signal?.aborted).toBe(true);
  brought.resolve();
  expect(await refused).toBe("shutting_down");
  await Bun.sleep(20);
  expect(counter.status().state).toBe("stopped");
  expect(childrenOf(process.pid)).toHaveLength(before);
});

test("an eager engine that has died reports what is missing, and recovers once it is there", async () => {
  let isMissing = true;
  const clock = new TestClock();
  const counter = start({
    clock,
    start: "eager",
    prepare: () => {
      if (!isMissing) return undefined;
      return Promise.reject(new SvcError("engine_unavailable", "no abacus"));
    },
  });
  await counter.ready();
  expect(await rejectionCode(count(counter, { to: 1, crash: true }))).toBe("engine_crashed");
  while (counter.status().state !== "failed") await Bun.sleep(5);
  const refused = count(counter, { to: 1 });
  expect(await refused.catch((error: unknown) => error)).toMatchObject({
    code: "engine_unavailable",
    message: "no abacus",
    details: { retryAfterSeconds: 1 },
  });
  isMissing = false;
  clock.pass(1000);
  while (counter.status().state !== "ready") await Bun.sleep(20);
  expect((await count(counter, { to: 5 })).at(-1)).toMatchObject({ count: 5 });
  expect(counter.status().restarts).toBe(1);
});
