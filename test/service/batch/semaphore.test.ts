import { describe, expect, test } from "bun:test";
import { Semaphore } from "../../../src/service/batch/semaphore.ts";

const live = new AbortController().signal;

describe("a semaphore", () => {
  test("gives a place to the caller that has waited longest", async () => {
    const places = new Semaphore(1);
    const order: string[] = [];
    const first = await places.acquire(live);
    const waiting = ["a", "b"].map(async (name) => {
      const release = await places.acquire(live);
      order.push(name);
      release?.();
    });
    first?.();
    await Promise.all(waiting);
    expect(order).toEqual(["a", "b"]);
    expect(await places.acquire(live)).toBeFunction();
  });

  test("loses no place when a waiting caller gives up", async () => {
    const places = new Semaphore(1);
    const first = await places.acquire(live);
    const abort = new AbortController();
    const left = places.acquire(abort.signal);
    const stays = places.acquire(live);
    abort.abort();
    expect(await left).toBeUndefined();
    first?.();
    expect(await stays).toBeFunction();
    expect(await places.acquire(abort.signal)).toBeUndefined();
  });

  test("gives all places to one caller when they are free, and gives them back when that gives up", async () => {
    const places = new Semaphore(3);
    const first = await places.acquire(live);
    const abort = new AbortController();
    const left = places.acquireAll(abort.signal);
    const all = places.acquireAll(live);
    abort.abort();
    expect(await left).toBeUndefined();
    let others = 0;
    const waiting = [1, 2, 3].map(() => places.acquire(live).then(() => others++));
    first?.();
    const release = await all;
    expect(others).toBe(0);
    release?.();
    await Promise.all(waiting);
    expect(others).toBe(3);
  });
});
