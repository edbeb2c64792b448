// Schemas within all limits of size whose conversion would take minutes or gigabytes if its work were not counted. Other
// requests wait meanwhile, so what is left of it must be small: it is refused, or the costly part is not enforced.

import { describe, expect, test } from "bun:test";
import { SchemaBudget } from "../../src/json-schema/budget.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const lost = (schema: unknown) => prepareSchema(schema, "schema").inexpressible;
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });

/** Returns an object schema with required properties. */
function record(count: number, property: (index: number) => unknown) {
  const names = numbers(count).map((index) => `p${index}`);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name, index) => [name, property(index)])),
    required: names,
  };
}

/** Returns a schema with `count` properties, each of which is `shared` with something more. */
const everywhere = (count: number, shared: object, more: (index: number) => object = () => ({})) => ({
  ...record(count, (index) => ({ allOf: [ref("shared")], ...more(index) })),
  $defs: { shared },
});

/** Returns objects inside one another, through references. */
const chain = (length: number, end: unknown, more: object = {}) => ({
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries(
    numbers(length).map((k) => [
      `d${k}`,
      k === length - 1 ? end : { type: "object", ...more, properties: { a: ref(`d${k + 1}`) }, required: ["a"] },
    ]),
  ),
});

const letters = (count: number) => String.fromCodePoint(...numbers(count).map((n) => 0x100 + 2 * n));
const long = "x".repeat(800_000);
const words = (count: number) => numbers(count).map((n) => `w${n}`);
const large = (count: number) => record(count, () => true);
const oneOf = (count: number, shared: object) => ({
  oneOf: numbers(count).map((minProperties) => ({ allOf: [ref("shared")], minProperties })),
  $defs: { shared },
});

describe("is not enforced", () => {
  test.each<[string, unknown]>([
    ["19,000 options that all match", { oneOf: numbers(19_000).map(() => true) }],
    ["3,000 objects", { oneOf: numbers(3000).map((n) => ({ type: "object", properties: { [`a${n}`]: {} } })) }],
    ["300 options that all match", { oneOf: numbers(300).map(() => true) }],
  ])("oneOf: %s", (_, schema) => expect(lost(schema)).toEqual(["/oneOf"]));

  test("the shortest length of strings in hundreds of options", () => {
    const options = numbers(20).map((k) => numbers(300).map((n) => ({ minLength: n + k })));
    expect(lost(record(20, (k) => ({ oneOf: options[k] })))).toHaveLength(20);
  });

  test("the rest of long patterns for the names of many properties", () => {
    const patterns = numbers(200).map((k) => [`[${letters(3000)}]${k}`, { maxLength: k }]);
    const schema = { ...large(3000), patternProperties: Object.fromEntries(patterns) };
    expect(lost(schema)).toEqual(["/patternProperties"]);
  });

  test("more than a thousand keywords, of which the first thousand are named", () => {
    expect(lost(record(1500, (n) => ({ type: "number", multipleOf: n + 0.5 })))).toHaveLength(1000);
  });
});

describe("is seen to have no values, or to be too deep", () => {
  const twoKinds = { type: ["object", "integer"], multipleOf: 511.7, minimum: 1, maximum: 512 };
  const reversed = ({ $defs, ...root }: ReturnType<typeof chain>) => ({
    ...root,
    $defs: Object.fromEntries(Object.entries($defs).reverse()),
  });

  test.each<[string, unknown, string]>([
    ["a long chain", chain(2800, { type: "string" }), "more than 128 arrays and objects"],
    ["the same in the other order", reversed(chain(2800, { type: "string" })), "more than 128 arrays and objects"],
    ["a chain that ends in nothing", chain(2800, false), "no value can satisfy it"],
    ["a chain that ends in itself", chain(2800, ref("d2799a")), "refers to nothing"],
    ["a chain of numbers, too", chain(1600, { type: "string" }, twoKinds), "too much work"],
  ])("%s", (_, schema, message) => expect(() => lost(schema)).toThrow(message));
});

describe("is refused as too much work", () => {
  const blanks = "\\S".repeat(1990);
  const classes = "(?:^|a)".repeat(7) + `[${letters(1800)}]`;
  const tuple = { type: "array", prefixItems: numbers(590).map(() => ({ type: "null" })), items: { type: "string" } };
  const optionals = numbers(4000).map((k) => ({ description: `d${k}`, minLength: k % 4 }));

  test.each<[string, unknown]>([
    ["a pattern with many lengths", everywhere(1400, { pattern: blanks }, (k) => ({ maxLength: k + 1 }))],
    [
      "a long pattern with many formats",
      everywhere(1400, { type: "string", pattern: blanks }, (k) => ({ format: `f${k}` })),
    ],
    ["many long patterns", record(250, (k) => ({ type: "string", pattern: `${blanks.slice(200)}${k}` }))],
    ["many patterns that multiply", record(250, (k) => ({ type: "string", pattern: `${classes}${k}` }))],
    ["a long value with many lengths", { const: long, allOf: numbers(6000).map(() => ({ minLength: 1 })) }],
    ["a long value in many places", everywhere(3000, { const: long })],
    [
      "a long note in many places",
      { ...record(3000, () => ref("a")), $defs: { a: { description: long, type: "null" } } },
    ],
    [
      "a long list in many places",
      everywhere(800, { enum: words(14_000) }, (minimum) => ({ type: "integer", minimum })),
    ],
    ["a long list of names", { ...record(1000, names), $defs: { shared: { enum: words(9000) } } }],
    ["a long list of refused values", everywhere(900, { not: { enum: numbers(13_000) } }, (minimum) => ({ minimum }))],
    ["multiples in many ranges", everywhere(1500, { type: "integer", multipleOf: 1.5 }, range)],
    ["a large object in many options", oneOf(1000, large(6000))],
    ["two large objects, of which one may match", { oneOf: [large(4500), large(4500)] }],
    ["a tuple in many forms", everywhere(2000, tuple, (k) => ({ contains: { minLength: k }, minContains: 0 }))],
    ["the opposite of a long tuple", { type: "array", not: { prefixItems: numbers(9000).map(() => ({ const: 1 })) } }],
    ["notes of many schemas in many places", everywhere(1500, { type: "string", allOf: optionals })],
    ["dependencies of many properties", { dependentRequired: Object.fromEntries(words(9000).map((one) => [one, []])) }],
    [
      "what many schemas leave unevaluated",
      { unevaluatedProperties: false, allOf: [...properties(2000), ...choices(8)] },
    ],
    ["rules for all properties of many", { allOf: [...additional(3000), large(2500)] }],
  ])("%s", (_, schema) => expect(() => lost(schema)).toThrow("too much work together"));

  function names(maxLength: number) {
    return { type: "object", propertyNames: ref("shared"), additionalProperties: { maxLength } };
  }
  function range(minimum: number) {
    return { minimum, maximum: minimum + 510 };
  }
  function properties(count: number) {
    return numbers(count).map((k) => ({ properties: { [`a${k}`]: {} } }));
  }
  function choices(count: number) {
    return numbers(count).map((k) => ({ anyOf: [{ required: [`a${k}`] }, { required: [`b${k}`] }] }));
  }
  function additional(count: number) {
    return numbers(count).map((minLength) => ({ additionalProperties: { minLength } }));
  }
});

test.each<[string, object]>([
  ["references", record(4500, () => ref("a"))],
  ["anchors", record(4500, (k) => ({ $anchor: `a${k}` }))],
])("a URL that is repeated by many %s is limited", (_, schema) => {
  expect(() => lost({ $id: `http://h/${long}`, ...schema, $defs: { a: {} } })).toThrow("longer than 2000 characters");
});

test("a name that is repeated in the path of every subschema is cut off there", () => {
  const inside = { ...record(100, (n) => ({ type: "number", multipleOf: n + 0.5 })), $anchor: "a" };
  const paths = lost({ $ref: "#a", $defs: { [long]: inside } });
  expect(paths).toHaveLength(100);
  expect(paths.every((path) => path.length < 300)).toBeTrue();
});

test("groups with names are not checked in a pattern that is too long to be used", () => {
  expect(
    lost({
      type: "string",
      pattern: numbers(6000)
        .map((n) => `(?<a${n}>b)`)
        .join(""),
    }),
  ).toEqual(["/pattern"]);
});

test("five hundred tools with thirty properties of all usual kinds are not too much work", () => {
  const budget = new SchemaBudget();
  const kinds = [
    { type: "string", description: "What the thing is called. ".repeat(6) },
    { type: "integer", minimum: 0, maximum: 100, description: "How many of them" },
    { type: "string", enum: ["red", "green", "blue", "none"], description: "Which colour" },
    { type: "array", items: { type: "string" }, description: "Several of them" },
    { type: ["string", "null"], default: null },
    { anyOf: [{ type: "string", format: "date-time" }, { type: "null" }], default: null },
  ];
  for (const _ of numbers(500)) {
    prepareSchema({ ...record(30, (n) => kinds[n % kinds.length]), additionalProperties: false }, "tools", budget);
  }
});
