// How jobs are sent to their process, and stopped there.

import { expect, test } from "bun:test";
import { systemClock, type Timers } from "../../../src/domain/clock.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { nextTurn } from "../../../src/domain/next-turn.ts";
import { PendingJobs } from "../../../src/engine/process/pending-jobs.ts";
import { TestClock } from "../../support/test-clock.ts";

/** Jobs, which are names, and what their process has received: their names, other messages, and keys to abort. */
function setUp(clock: Timers = systemClock) {
  const sent: string[] = [];
  const jobs = new PendingJobs<string, { readonly type: string }>({
    clock,
    loadTimeoutMs: 1000,
    abortGraceMs: 200,
    process: () => ({
      send(message) {
        sent.push(message.type === "submit" ? message.job : message.type);
        return true;
      },
      abort: (key) => void sent.push(`abort ${key}`),
    }),
    onOverdue: () => void sent.push("overdue"),
    onIdle() {},
  });
  const add = (...names: string[]) =>
    names.map((name) => {
      const job = jobs.create(name, name);
      jobs.add(job, true);
      return job;
    });
  return { sent, jobs, add };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await nextTurn();
};

test("jobs that arrive together are sent in order, one per turn of the event loop, so that others can come between", async () => {
  const { sent, jobs, add } = setUp();
  add("a", "b", "c", "d");
  const counts = [sent.length];
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn();
    counts.push(sent.length);
  }
  expect(counts).toEqual([1, 2, 3, 4]);
  await nextTurn();
  add("e");
  expect(sent).toEqual(["a", "b", "c", "d", "e"]);
  jobs.failAll(new SvcError("shutting_down", "over"));
});

test("a job that is cancelled before its turn is not sent", async () => {
  const { sent, jobs, add } = setUp();
  const [, left] = add("a", "b", "c");
  if (left) jobs.drop(left);
  jobs.cancel("c", "id");
  await turns(4);
  expect(sent).toEqual(["a"]);
  jobs.failAll(new SvcError("shutting_down", "over"));
});

test("a cancel reports whether it found the job: none is left of one whose last event only waits for its reader", async () => {
  const { sent, jobs, add } = setUp();
  const [job] = add("a");
  expect([jobs.cancel("b", "id"), jobs.cancel("a", "id"), jobs.cancel("a", "id")]).toEqual([false, true, false]);
  const [done] = add("a");
  await turns(2);
  const { key } = done ?? { key: 0 };
  jobs.accepted({ type: "accepted", key, event: { type: "accepted" } });
  jobs.emitted({ type: "events", outputs: [], finished: [{ key, event: { type: "finish" } }] });
  expect([jobs.cancel("a", "id"), sent]).toEqual([false, ["a", "cancel", "a"]]);
  expect([job?.events.size, done?.events.size]).toEqual([0, 2]);
});

test("a job that is refused because the engine is busy can be retried a second later, whatever the reason", async () => {
  const { jobs, add } = setUp();
  const [job] = add("a");
  jobs.rejected({ key: job?.key ?? 0, code: "server_busy", message: "later" });
  const refused = job?.events.more();
  await expect(refused).rejects.toMatchObject({ code: "server_busy", details: { retryAfterSeconds: 1 } });
});

test("jobs not yet sent when a process ends are sent to the next process, once", async () => {
  const { sent, jobs, add } = setUp();
  add("a", "b", "c");
  jobs.lose(new SvcError("engine_crashed", "gone"), undefined);
  await turns(4);
  expect(sent).toEqual(["a"]);
  jobs.submitAll();
  await turns(4);
  expect(sent).toEqual(["a", "a", "b", "c"]);
  jobs.failAll(new SvcError("shutting_down", "over"));
});

test.each([
  ["given up", false],
  ["cancelled", true],
])("a job that was %s in the moment in which it began is interrupted", (_, byId) => {
  const clock = new TestClock();
  const { sent, jobs } = setUp(clock);
  const job = jobs.create("a", "a");
  jobs.add(job, true);
  jobs.accepted({ type: "accepted", key: job.key, event: { type: "accepted" } });
  if (byId) jobs.cancel("a", "id");
  else jobs.drop(job);
  jobs.started({ type: "started", keys: [job.key] });
  expect(sent).toEqual(["a", "cancel", `abort ${job.key}`]);
  clock.pass(200);
  expect(sent.at(-1)).toBe("overdue");
  jobs.failAll(new SvcError("shutting_down", "over"));
});
