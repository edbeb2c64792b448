import { describe, expect, test } from "bun:test";
import { PrefixIndex } from "../../../src/scheduler/kv/prefix-index.ts";

const ids = (length: number, from: number) => Int32Array.from({ length }, (_, at) => from + at);
const text = (all: Int32Array, adapterKey = "") => ({ ids: all, adapterKey, media: [] });

describe("an index of prefixes", () => {
  const index = new PrefixIndex();
  index.add({ id: 1, ...text(ids(300, 1)) });
  index.add({ id: 2, ...text(Int32Array.from([...ids(300, 1), ...ids(100, 900)])) });
  index.add({ id: 3, ...text(Int32Array.from([...ids(200, 1), ...ids(300, 5000)])) });
  index.add({ id: 4, ...text(ids(280, 1), "a:1") });

  test("finds the entry with the longest common prefix, and the shortest of several", () => {
    expect(index.find(text(ids(250, 1)), 250, false)).toMatchObject({ length: 250, entry: { id: 1 } });
    expect(index.find(text(ids(150, 1)), 150, false)?.length).toBe(150);
    expect(index.find(text(ids(10, 7000)), 10, false)).toBeUndefined();
  });

  test("finds only whole entries when they cannot be trimmed", () => {
    expect(index.find(text(ids(250, 1)), 250, true)).toBeUndefined();
    expect(index.find(text(ids(350, 1)), 349, true)).toMatchObject({ length: 300, entry: { id: 1 } });
  });

  test("knows which entries are prefixes of another", () => {
    expect(index.prefixesOf(2)).toEqual([1]);
    expect(index.prefixesOf(3)).toEqual([]);
  });

  test("finds only entries computed with the same adapters", () => {
    expect(index.find(text(ids(290, 1), "a:1"), 290, false)).toMatchObject({ length: 280, entry: { id: 4 } });
    expect(index.find(text(ids(290, 1), "a:1"), 290, true)).toMatchObject({ length: 280, entry: { id: 4 } });
    for (const other of ["a:0.5", "b:1", "a:1 b:1"]) {
      expect(index.find(text(ids(290, 1), other), 290, false)).toBeUndefined();
      expect(index.find(text(ids(290, 1), other), 290, true)).toBeUndefined();
    }
    expect(index.prefixesOf(4)).toEqual([]);
  });
});
