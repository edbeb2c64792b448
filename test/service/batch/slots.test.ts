import { describe, expect, test } from "bun:test";
import { Slots } from "../../../src/service/batch/slots.ts";

const live = new AbortController().signal;

describe("slots", () => {
  test("go to who has waited longest", async () => {
    const slots = new Slots(1);
    const order: string[] = [];
    const first = await slots.take(live);
    const waiting = ["a", "b"].map(async (name) => {
      const release = await slots.take(live);
      order.push(name);
      release?.();
    });
    first?.();
    await Promise.all(waiting);
    expect(order).toEqual(["a", "b"]);
    expect(await slots.take(live)).toBeFunction();
  });

  test("are not lost to who leaves while waiting", async () => {
    const slots = new Slots(1);
    const first = await slots.take(live);
    const abort = new AbortController();
    const left = slots.take(abort.signal);
    const stays = slots.take(live);
    abort.abort();
    expect(await left).toBeUndefined();
    first?.();
    expect(await stays).toBeFunction();
    expect(await slots.take(abort.signal)).toBeUndefined();
  });
});
