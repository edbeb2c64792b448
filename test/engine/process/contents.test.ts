// Large contents of a job (images, sound) are sent to the engine separately, in parts.

import { afterEach, expect, test } from "bun:test";
import { systemClock } from "../../../src/domain/clock.ts";
import { PendingJob } from "../../../src/engine/process/jobs.ts";
import { childrenOf } from "../../support/processes.ts";
import { count, live, start, stopCounters, type Counter } from "./counters.ts";

afterEach(stopCounters);

const MB = 2 ** 20;
const hash = (content: Uint8Array) => Bun.SHA1.hash(content, "hex");

/** Returns bytes in which no two parts are the same. */
function content(length: number, seed = 1): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at + seed, 0x9e3779b1);
  return new Uint8Array(words.buffer).subarray(0, length);
}

const one = (counter: Counter, contents: readonly Uint8Array[], signal = live()) =>
  Array.fromAsync(counter.run({ to: 1 }, signal, "", contents));

test("all contents arrive completely, each separate from the others", async () => {
  const counter = start();
  const contents = [content(2 * MB + 5), new Uint8Array(), content(MB, 7), content(3, 9)];
  const many = await Promise.all([one(counter, contents), one(counter, [content(MB + 1, 3)]), one(counter, [])]);
  const arrived = contents.map((each) => hash(each));
  expect(many.map(([accepted]) => accepted)).toEqual([
    { type: "accepted", contents: arrived },
    { type: "accepted", contents: [hash(content(MB + 1, 3))] },
    { type: "accepted" },
  ]);
});

test("other jobs do not wait while a large content is sent", async () => {
  const counter = start();
  await count(counter, { to: 1 });
  const ended: string[] = [];
  const large = one(counter, [content(24 * MB)]).then(() => ended.push("large"));
  await Promise.all([large, count(counter, { to: 1 }).then(() => ended.push("small"))]);
  expect(ended).toEqual(["small", "large"]);
});

test("when the process dies meanwhile, the next process receives the whole content", async () => {
  const before = childrenOf(process.pid);
  const counter = start();
  await count(counter, { to: 1 });
  const large = content(24 * MB);
  const events = one(counter, [large]);
  await count(counter, { to: 1 });
  const [pid = 0] = childrenOf(process.pid).filter((child) => !before.includes(child));
  process.kill(pid, "SIGKILL");
  expect((await events)[0]).toEqual({ type: "accepted", contents: [hash(large)] });
  expect(counter.status()).toMatchObject({ state: "ready", restarts: 1 });
});

test("a disconnect stops the transfer, and other jobs go on", async () => {
  const counter = start();
  await count(counter, { to: 1 });
  const leave = new AbortController();
  const left = one(counter, [content(24 * MB)], leave.signal).catch((reason: unknown) => reason);
  await count(counter, { to: 1 });
  leave.abort("gone");
  expect(await left).toBe("gone");
  expect(counter.status()).toMatchObject({ running: 0, waiting: 0 });
  const [accepted] = await one(counter, [content(5)]);
  expect(accepted).toEqual({ type: "accepted", contents: [hash(content(5))] });
});

test("a part carries only its own bytes, even when they are a view of a larger buffer", () => {
  const view = Buffer.alloc(3 * MB).subarray(MB, 2 * MB + 10);
  const job = new PendingJob(systemClock, 1, "", "job", [view]);
  const messages = Array.from({ length: 4 }, () => job.next());
  expect(messages.map((message) => message?.type)).toEqual(["part", "part", "submit", undefined]);
  const sizes = messages.map((message) => message?.type === "part" && message.bytes.buffer.byteLength);
  expect(sizes.slice(0, 2)).toEqual([MB, 10]);
});
