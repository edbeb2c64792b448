import { expect, spyOn, test } from "bun:test";
import { Merge } from "../../src/service/merge.ts";

function merge<T>(sources: readonly AsyncIterator<T>[]) {
  const merged = new Merge<T>();
  for (const [source, values] of sources.entries()) merged.add(source, values);
  return merged.values();
}

/** A stream whose values are written by the test. */
function source() {
  const { readable, writable } = new TransformStream<string, string>(
    {},
    { highWaterMark: 100 },
    { highWaterMark: 100 },
  );
  const writer = writable.getWriter();
  return { values: readable[Symbol.asyncIterator]() as AsyncIterator<string>, writer };
}

test("values arrive as they are produced, each with its source, until all sources have ended", async () => {
  const [a, b] = [source(), source()];
  const merged = merge([a.values, b.values]);
  const next = async () => (await merged.next()).value;
  await b.writer.write("b1");
  expect(await next()).toEqual({ source: 1, value: "b1" });
  await a.writer.write("a1");
  expect(await next()).toEqual({ source: 0, value: "a1" });
  await a.writer.close();
  await b.writer.write("b2");
  expect(await next()).toEqual({ source: 1, value: "b2" });
  const end = merged.next();
  await b.writer.close();
  expect(await end).toEqual({ done: true, value: undefined });
  expect((await merge([]).next()).done).toBe(true);
});

test("the first failure is thrown after the values before it, and later failures are ignored", async () => {
  const [a, b, c] = [source(), source(), source()];
  const merged = merge([a.values, b.values, c.values]);
  const first = merged.next();
  await a.writer.write("a1");
  await first;
  await b.writer.write("b1");
  await Bun.sleep(0);
  await c.writer.abort(new Error("first"));
  await a.writer.abort(new Error("second"));
  await Bun.sleep(0);
  expect((await merged.next()).value).toEqual({ source: 1, value: "b1" });
  await expect(merged.next()).rejects.toThrow("first");
  await Bun.sleep(0);
  expect((await merged.next()).done).toBe(true);
});

test("each source is read once per value, however many other sources are waiting", async () => {
  const waiting = Array.from({ length: 1000 }, () => {
    const { promise } = Promise.withResolvers<IteratorResult<number>>();
    return { next: () => promise, listened: spyOn(promise, "then") };
  });
  const talking = (async function* () {
    for (let value = 0; value < 100; value++) yield value;
  })();
  const values: number[] = [];
  for await (const { value } of merge<number>([...waiting, talking])) if (values.push(value) === 100) break;
  expect(values).toEqual(Array.from({ length: 100 }, (_, value) => value));
  expect(waiting.map(({ listened }) => listened.mock.calls.length)).toEqual(waiting.map(() => 1));
});
