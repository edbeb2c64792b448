// Every limit from both sides: what is just within it is enforced, and what is just beyond it is not enforced, is
// refused, or is expressed differently. Limits of computing work are tested as closely as a schema can reach.
// refuse.test.ts has the limits that errors name.

import { describe, expect, test } from "bun:test";
import { prepareSchema } from "../../src/json-schema/prepare.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const prepared = (schema: unknown) => JSON.stringify(prepareSchema(schema, "schema").schema);
const lost = (schema: unknown) => prepareSchema(schema, "schema").inexpressible.length;

/** Returns an object schema with `count` required properties. */
function record(count: number, property: (index: number) => unknown, name = (index: number) => `p${index}`) {
  const names = numbers(count).map(name);
  return { type: "object", properties: Object.fromEntries(names.map((one, n) => [one, property(n)])), required: names };
}

/** Returns `count` schemas of which exactly one may match, which only comparing every pair can show. */
const oneOf = (count: number) => ({
  oneOf: numbers(count).map((n) => ({ type: "object", properties: { [`a${n}`]: { const: 1 } }, required: [`a${n}`] })),
});
const consts = (count: number, from = 0) => ({ anyOf: numbers(count).map((n) => ({ const: from + n })) });

type SchemaOf = (size: number) => unknown;

describe("is enforced up to a limit, and not beyond it", () => {
  test.each<[string, number, SchemaOf]>([
    ["a longest string", 2000, (maxLength) => ({ type: "string", maxLength })],
    ["a shortest string", 2000, (minLength) => ({ type: "string", minLength })],
    ["a repetition in a pattern", 2000, (times) => ({ type: "string", pattern: `^a{${times}}$` })],
    ["a longest array", 600, (maxItems) => ({ type: "array", maxItems })],
    ["a shortest array", 600, (minItems) => ({ type: "array", minItems })],
    ["multiples", 512, (count) => ({ type: "integer", minimum: 3, maximum: 3 * count, multipleOf: 3 })],
    // With 950 to 1,049 in each of the others: 100,000 in total.
    ["repetitions", 50, (last) => record(101, (n) => ({ type: "string", maxLength: n === 100 ? last : 950 + n }))],
    // 256 together with the others.
    ["alternatives", 128, (count) => ({ anyOf: [consts(128), consts(count, 1000)] })],
    ["opposites", 4001, (count) => record(count, () => ({ not: { type: "string" } }))],
  ])("%s: %p", (_, limit, schemaOf) => {
    expect(lost(schemaOf(limit))).toBe(0);
    expect(lost(schemaOf(limit + 1))).toBe(1);
  });

  test.each<[string, number, number, SchemaOf]>([
    [
      "checking values",
      49,
      50,
      (count) => ({ enum: numbers(1000), allOf: numbers(count).map(() => ({ type: "integer" })) }),
    ],
    ["matching a pattern", 19_998, 19_999, (length) => ({ const: "a".repeat(length), pattern: "^a*$" })],
    ["comparing", 8, 9, (count) => record(2, (n) => oneOf(n === 0 ? 55 : count))],
  ])("work of %s: %p", (_, most, more, schemaOf) => {
    expect(lost(schemaOf(most))).toBe(0);
    expect(lost(schemaOf(more))).toBeGreaterThan(0);
  });
});

describe("is expressed differently beyond a limit", () => {
  test.each<[string, number, SchemaOf, string]>([
    [
      "a pattern that is used often",
      16,
      (uses) => record(uses, () => ({ type: "string", pattern: "^[a-z]{3}$" })),
      "$ref",
    ],
    [
      "a list that is used twice",
      16,
      (count) => ({ ...record(2, () => ({ $ref: "#/$defs/a" })), $defs: { a: { enum: numbers(count) } } }),
      "$ref",
    ],
    // In addition to the 256 before them and their separators.
    [
      "a path of long names",
      142,
      (length) =>
        record(
          1,
          () =>
            record(
              1,
              () => record(1, () => ({})),
              () => "b".repeat(length),
            ),
          () => "a".repeat(256),
        ),
      "$ref",
    ],
  ])("%s: %p", (_, limit, schemaOf, mark) => {
    expect(prepared(schemaOf(limit))).not.toContain(`"${mark}"`);
    expect(prepared(schemaOf(limit + 1))).toContain(`"${mark}"`);
  });
});

test("of more than 200 optional properties, the first 200 are allowed", () => {
  const properties = (count: number) => Object.fromEntries(numbers(count).map((n) => [`p${n}`, { type: "null" }]));
  const kept = (count: number) => prepareSchema({ type: "object", properties: properties(count) }, "schema").schema;
  for (const count of [200, 201]) expect(kept(count)).toMatchObject({ properties: properties(200) });
  expect(kept(201)).not.toHaveProperty("properties.p200");
});

test("of the possible lengths of a tuple, the twelve nearest to the default are allowed", () => {
  const tuple = { type: "array", prefixItems: numbers(20).map((n) => ({ const: n })), items: false, minItems: 1 };
  const { anyOf } = prepareSchema(tuple, "schema").schema as { anyOf: { prefixItems: unknown[] }[] };
  expect(anyOf.map(({ prefixItems }) => prefixItems.length)).toEqual([9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
});

test("up to 500 names may have the same ASCII letters and digits", () => {
  const alike = (count: number) =>
    record(
      count,
      () => ({ type: "null" }),
      (n) => String.fromCodePoint(0x4e00 + n),
    );
  expect(lost(alike(500))).toBe(0);
  expect(() => prepareSchema(alike(501), "schema")).toThrow("more than 500 properties have names that are alike");
});
