// JSON text that is written in parts.

import { expect, test } from "bun:test";
import { jsonParts } from "../../src/domain/json-parts.ts";

const text = (value: unknown) => [...jsonParts(value)].join("");

/** Returns a value of some size and shape, always the same one for a seed. */
function anyValue(seed: number): unknown {
  let state = seed * 2654435761 + 1;
  const next = (most: number) => (state = (state * 1103515245 + 12345) % 2 ** 31) % most;
  const some = ["a", '"\\\n', "é", "\ud83d\ude00", "\ud83d", "\ude00", "\u2028"];
  const words = () => Array.from({ length: next(40) ** 3 }, () => some[next(some.length)]).join("");
  const value = (depth: number): unknown => {
    const kind = next(depth > 6 ? 4 : 8);
    if (kind === 0) return words();
    if (kind === 1) return [null, undefined, true, 1.5, -0, Number.NaN][next(6)];
    if (kind === 2) return next(1000);
    if (kind === 3) return new Date(next(1000));
    if (kind < 6) return Array.from({ length: next(depth === 0 ? 3000 : 5) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: next(6) }, () => [words().slice(0, 20), value(depth + 1)]));
  };
  return [value(0), value(0)];
}

test("is that of JSON.stringify, whatever the value", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const value = anyValue(seed);
    expect(text(value) === JSON.stringify(value)).toBe(true);
  }
});

test("takes typed arrays and generators as lists", () => {
  const numbers = Int32Array.from({ length: 5000 }, (_, n) => n);
  expect(text({ a: [numbers], b: numbers.values().map((n) => ({ n })), c: new Int32Array() })).toBe(
    JSON.stringify({ a: [[...numbers]], b: [...numbers].map((n) => ({ n })), c: [] }),
  );
});

test("makes a long item of a generator only when the one before it is written", () => {
  let made = 0;
  function* items() {
    for (; made < 3; made++) yield "x".repeat(100_000);
  }
  const parts = jsonParts({ items: items() });
  let written = "";
  for (const part of parts) {
    written += part;
    expect(made).toBeLessThanOrEqual(written.length / 100_000);
  }
  expect(written).toBe(JSON.stringify({ items: Array(3).fill("x".repeat(100_000)) }));
});

test.each([
  ["a long string", "é\ud83d\ude00".repeat(1_000_000)],
  ["many numbers", Array.from({ length: 500_000 }, (_, n) => n / 7)],
  ["many small objects", Array.from({ length: 100_000 }, (_, n) => ({ n }))],
  ["many members", Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`name-${n}`, n]))],
  ["a long string at a great depth", Array.from({ length: 100 }).reduce((inner) => [{ inner }], "x".repeat(1_000_000))],
])("has only parts of some ten thousand characters: %s", (_, value) => {
  let [whole, longest] = ["", 0];
  for (const part of jsonParts(value)) {
    whole += part;
    longest = Math.max(longest, part.length);
  }
  expect(longest).toBeLessThan(100_000);
  expect(whole === JSON.stringify(value)).toBe(true);
});
