import { expect, test } from "bun:test";
import { Semaphore } from "../../src/domain/semaphore.ts";

const live = new AbortController().signal;

/** Runs named work of given sizes until it is released. */
function setUp(most: number) {
  const shared = new Semaphore(most);
  const running = new Map<string, PromiseWithResolvers<string>>();
  const run = (name: string, bytes: number, signal = live) => {
    const result = shared.run(bytes, signal, () => {
      const work = Promise.withResolvers<string>();
      running.set(name, work);
      return work.promise.finally(() => running.delete(name));
    });
    result.catch(() => {});
    return result;
  };
  const end = async (name: string) => {
    running.get(name)?.resolve(name);
    await Bun.sleep(0);
  };
  return {
    run,
    end,
    running: () => [...running.keys()].toSorted(),
    fail: (name: string) => running.get(name)?.reject(name),
  };
}

test("work that does not fit waits, and the smallest runs next", async () => {
  const { run, end, running } = setUp(10);
  const results = [run("a", 6), run("b", 8), run("c", 5), run("d", 4)];
  await Bun.sleep(0);
  expect(running()).toEqual(["a", "d"]);
  await end("d");
  expect(running()).toEqual(["a"]);
  await end("a");
  expect(running()).toEqual(["c"]);
  await end("c");
  expect(running()).toEqual(["b"]);
  await end("b");
  expect(await Promise.all(results)).toEqual(["a", "b", "c", "d"]);
});

test("work is overtaken by at most as many bytes as it needs itself", async () => {
  const { run, end, running } = setUp(10);
  void run("small 0", 4);
  void run("large", 8);
  const begun: string[] = [];
  for (let at = 1; !running().includes("large") && at < 9; at++) {
    void run(`small ${at}`, 4);
    await Bun.sleep(0);
    begun.push(...running().filter((name) => !begun.includes(name)));
    await end(`small ${at - 1}`);
  }
  // Two small ones of later arrival.
  expect(running()).toEqual(["large"]);
  expect(begun).toEqual(["small 0", "small 1", "small 2"]);
  await end("large");
  expect(running()).toEqual(["small 3"]);
});

test("work that was overtaken and then cancelled does not keep others waiting", async () => {
  const { run, end, running } = setUp(10);
  const leaving = new AbortController();
  void run("a", 4);
  void run("large", 8, leaving.signal);
  void run("b", 4);
  await Bun.sleep(0);
  await end("b");
  void run("c", 4);
  void run("d", 2);
  await Bun.sleep(0);
  expect(running()).toEqual(["a", "c"]);
  leaving.abort("gone");
  await Bun.sleep(0);
  expect(running()).toEqual(["a", "c", "d"]);
});

test("work larger than the limit runs alone", async () => {
  const { run, end, running } = setUp(10);
  void run("a", 1);
  void run("huge", 100);
  await Bun.sleep(0);
  expect(running()).toEqual(["a"]);
  await end("a");
  expect(running()).toEqual(["huge"]);
  void run("b", 1);
  await Bun.sleep(0);
  expect(running()).toEqual(["huge"]);
  await end("huge");
  expect(running()).toEqual(["b"]);
});

test("waiting work can be cancelled, and running work rejects at once, with its bytes free when it ends", async () => {
  const { run, end, running } = setUp(10);
  const [leaving, leavingToo] = [new AbortController(), new AbortController()];
  const first = run("a", 10, leaving.signal);
  const second = run("b", 10, leavingToo.signal);
  const third = run("c", 10);
  await Bun.sleep(0);
  leavingToo.abort("gone");
  await expect(second).rejects.toBe("gone");
  leaving.abort("gone, too");
  await expect(first).rejects.toBe("gone, too");
  expect(running()).toEqual(["a"]);
  await end("a");
  expect(running()).toEqual(["c"]);
  await end("c");
  expect(await third).toBe("c");
});

test("work that fails frees its bytes", async () => {
  const { run, fail, running } = setUp(10);
  const first = run("a", 10);
  void run("b", 10);
  await Bun.sleep(0);
  fail("a");
  await expect(first).rejects.toBe("a");
  await Bun.sleep(0);
  expect(running()).toEqual(["b"]);
});

test("work that throws before it begins frees its bytes", async () => {
  const shared = new Semaphore(10);
  const broken = shared.run(10, live, () => {
    throw new Error("no such file");
  });
  await expect(broken).rejects.toThrow("no such file");
  expect(await shared.run(10, live, async () => "next")).toBe("next");
});

test("work whose turn comes in the moment it is cancelled does not begin", async () => {
  const shared = new Semaphore(10);
  const leaving = new AbortController();
  const free = await shared.take(10, live);
  let begun = false;
  const late = shared.run(10, leaving.signal, async () => {
    begun = true;
  });
  free();
  leaving.abort("gone");
  await expect(late).rejects.toBe("gone");
  expect(await shared.run(10, live, async () => "next")).toBe("next");
  expect(begun).toBe(false);
});

test("work of equal size runs in order of arrival", async () => {
  const { run, end, running } = setUp(1);
  const names = ["a", "b", "c"];
  for (const name of names) void run(name, 1);
  for (const name of names) {
    await Bun.sleep(0);
    expect(running()).toEqual([name]);
    await end(name);
  }
});

test("what was taken is free again once it is given back, and giving it back twice frees no more", async () => {
  const shared = new Semaphore(10);
  const free = await shared.take(10, live);
  const all = shared.take(Number.POSITIVE_INFINITY, live);
  free();
  free();
  const freeAll = await all;
  let taken = 0;
  for (const bytes of [6, 6]) void shared.take(bytes, live).then(() => taken++);
  await Bun.sleep(0);
  expect(taken).toBe(0);
  freeAll();
  await Bun.sleep(0);
  expect(taken).toBe(1);
});
