import { expect, test } from "bun:test";
import { BatchQueue, QueuedJob, type BatchItem } from "../../../src/engine/embedding/child/batch-queue.ts";

const job = (key: number, ...lengths: number[]) => jobOf(undefined, key, ...lengths);
const jobOf = (client: string | undefined, key: number, ...lengths: number[]) =>
  new QueuedJob(
    key,
    lengths.map((length) => new Int32Array(length)),
    1,
    0,
    client,
  );
const names = (batch: readonly BatchItem[]) => batch.map(({ job: { key }, index }) => `${key}:${index}`);

test("a batch takes inputs of all requests in turns, the short ones of each request first", () => {
  const queue = new BatchQueue(100, 10);
  queue.add(job(1, 30, 10, 20));
  queue.add(job(2, 5));
  expect(names(queue.next())).toEqual(["1:1", "2:0", "1:2", "1:0"]);
  expect(queue.next()).toEqual([]);
  expect(queue.isEmpty).toBe(true);
});

test("a batch exceeds neither the token nor the input limit, and a single long input is computed alone", () => {
  const queue = new BatchQueue(100, 3);
  queue.add(job(1, 60, 60, 300, 1, 1, 1, 1));
  const batches: BatchItem[][] = [];
  for (let batch = queue.next(); batch.length > 0; batch = queue.next()) batches.push(batch);
  expect(batches.flatMap(names).sort()).toEqual(["1:0", "1:1", "1:2", "1:3", "1:4", "1:5", "1:6"]);
  for (const batch of batches) {
    expect(batch.length).toBeLessThanOrEqual(3);
    const tokens = batch.reduce((sum, item) => sum + item.tokens.length, 0);
    if (batch.length > 1) expect(tokens).toBeLessThanOrEqual(100);
  }
});

test("background requests take the space that others leave", () => {
  const queue = new BatchQueue(100, 3);
  const lengths = [1, 1, 1].map((length) => new Int32Array(length));
  queue.add(new QueuedJob(1, lengths, 1, 0, "batch", true));
  queue.add(job(2, 1, 1));
  queue.add(job(3, 1));
  expect([names(queue.next()), names(queue.next())]).toEqual([
    ["2:1", "3:0", "2:0"],
    ["1:2", "1:1", "1:0"],
  ]);
});

test("a batch that is full ends the turn, and the next batch continues there", () => {
  const queue = new BatchQueue(100, 3);
  for (const key of [1, 2, 3, 4]) queue.add(job(key, 1));
  expect([names(queue.next()), names(queue.next())]).toEqual([["1:0", "2:0", "3:0"], ["4:0"]]);
});

test("a request with one input does not wait for one with many inputs", () => {
  const queue = new BatchQueue(100, 64);
  queue.add(job(1, ...Array.from({ length: 50 }, () => 50)));
  queue.next();
  queue.add(job(2, 50));
  expect(names(queue.next()).map((name) => name.split(":")[0])).toContain("2");
});

test("a stopped batch is computed again, unless its request was cancelled", () => {
  const queue = new BatchQueue(100, 64);
  queue.add(job(1, 10, 20));
  const stopped = queue.next();
  queue.putBack(stopped);
  expect(names(queue.next())).toEqual(names(stopped));
  queue.putBack(stopped);
  queue.remove(1);
  expect(queue.isEmpty).toBe(true);
});

test("a request is complete when the vectors of all inputs have arrived, each at its input's place", () => {
  const inputs = [new Int32Array(3), new Int32Array(3)];
  const two = new QueuedJob(1, inputs, 2, 0);
  expect(two.keep(1, Float32Array.of(7, 8))).toBe(false);
  expect(two.keep(0, Float32Array.of(5, 6))).toBe(true);
  expect([...two.values]).toEqual([5, 6, 7, 8]);
  expect(two.tokens).toBe(6);
});

test("clients take turns, however many requests each has", () => {
  const queue = new BatchQueue(100, 4);
  for (const key of [1, 2, 3]) queue.add(jobOf("many", key, 10, 10));
  queue.add(jobOf("few", 4, 10, 10));
  const turns = () => names(queue.next()).map((name) => name[0]);
  expect(turns()).toEqual(["1", "4", "1", "4"]);
  // With one input per batch, no request of the client with many comes twice before the other client's.
  const slow = new BatchQueue(1, 1);
  for (const key of [1, 2, 3]) slow.add(jobOf("many", key, 10, 10));
  slow.add(jobOf("few", 4, 10, 10));
  expect(Array.from({ length: 4 }, () => names(slow.next())[0]?.[0])).toEqual(["1", "4", "2", "4"]);
});
