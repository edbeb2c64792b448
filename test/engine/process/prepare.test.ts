// A lazy engine whose files must be brought before its process is started.

import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { SvcError } from "../../../src/domain/errors.ts";
import { Supervisor } from "../../../src/engine/process/supervisor.ts";
import { testLaunch } from "../../support/launch.ts";
import { childrenOf } from "../../support/processes.ts";
import type { CountingEvent, CountingJob, CountingOptions } from "./counting-kind.ts";

type Counter = Supervisor<CountingOptions, { readonly unit: number }, CountingJob, CountingEvent>;

const counters: Counter[] = [];
afterEach(() => Promise.all(counters.splice(0).map((counter) => counter.stop())));

function start(prepare: () => Promise<void> | undefined): Counter {
  const counter: Counter = new Supervisor({
    kind: "counting",
    model: "abacus",
    load: () => ({ libraries: import.meta.dir, loadMs: 0 }),
    prepare,
    launch: testLaunch({ command: () => [process.execPath, join(import.meta.dir, "counting-kind.ts")] }),
    start: "lazy",
    idleMs: 0,
  });
  counters.push(counter);
  return counter;
}

const count = (counter: Counter, to: number) => Array.fromAsync(counter.run({ to }, new AbortController().signal));

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "none",
    (error: unknown) => (error instanceof SvcError ? error.code : error),
  );

test("waits for what is to be loaded, once for all jobs", async () => {
  const brought = Promise.withResolvers<void>();
  let isThere = false;
  const counter = start(() => (isThere ? undefined : brought.promise));
  const both = Promise.all([count(counter, 3), count(counter, 4)]);
  expect(counter.status()).toMatchObject({ state: "loading", progress: 0, waiting: 2, residentBytes: 0 });
  isThere = true;
  brought.resolve();
  expect((await both).map((events) => events.at(-1))).toMatchObject([{ count: 3 }, { count: 4 }]);
  expect(counter.status()).toMatchObject({ state: "ready", restarts: 0 });
});

test("refuses its jobs with what is wrong with that, and is tried again with the next", async () => {
  const faults = [
    () => Promise.reject(new SvcError("storage_full", "no room")),
    () => Promise.reject(new Error("a bug")),
    () => {
      throw new SvcError("mode_unavailable", "not allowed");
    },
    () => undefined,
  ];
  const counter = start(() => faults.shift()?.());
  expect(await failure(count(counter, 1))).toBe("storage_full");
  expect(counter.status().state).toBe("unloaded");
  expect(await failure(count(counter, 1))).toBe("engine_unavailable");
  expect(await failure(count(counter, 1))).toBe("mode_unavailable");
  expect((await count(counter, 5)).at(-1)).toMatchObject({ count: 5 });
});

test("that is stopped meanwhile starts no process", async () => {
  const brought = Promise.withResolvers<void>();
  const before = childrenOf(process.pid).length;
  const counter = start(() => brought.promise);
  const refused = failure(count(counter, 1));
  await counter.stop();
  brought.resolve();
  expect(await refused).toBe("shutting_down");
  await Bun.sleep(20);
  expect(counter.status().state).toBe("stopped");
  expect(childrenOf(process.pid)).toHaveLength(before);
});
