import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";

const PARAM = "response_format.json_schema.schema";

/** Returns the error message for a schema that is refused. */
function refusal(schema: unknown): string {
  try {
    prepareSchema(schema, PARAM);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    expect(error.code).toBe("invalid_value");
    expect(error.details.param).toBe(PARAM);
    expect(error.message).toStartWith(`'${PARAM}' is not a usable JSON schema`);
    return error.message;
  }
  throw new Error("it was accepted");
}

describe("an invalid schema", () => {
  test.each([
    ["text", "object", "got string"],
    ["null", null, "got null"],
    ["an unknown type", { type: "text" }, "'/type'"],
    ["a type that is no name", { type: ["string", 1] }, "'/type'"],
    ["no types", { type: [] }, "'/type'"],
    ["an empty enum", { enum: [] }, "'/enum'"],
    ["properties that are a list", { properties: [] }, "'/properties': it must be an object, got array"],
    ["a subschema that is text", { properties: { a: "string" } }, "'/properties/a': a schema must be"],
    ["required as a flag", { properties: { a: { required: true } } }, "'/properties/a/required'"],
    ["required numbers", { required: [1] }, "'/required': it must hold strings"],
    ["a negative length", { minLength: -1 }, "'/minLength': it must be a whole number"],
    ["half an item", { maxItems: 1.5 }, "'/maxItems'"],
    ["a bound that is text", { minimum: "1" }, "'/minimum': it must be a number, got string"],
    ["multiples of nothing", { multipleOf: 0 }, "'/multipleOf'"],
    ["an invalid pattern", { items: { pattern: "(" } }, "'/items/pattern'"],
    ["an invalid property pattern", { patternProperties: { "[": {} } }, "'/patternProperties'"],
    ["no alternatives", { anyOf: [] }, "'/anyOf': it must not be empty"],
    ["a number out of range", { const: Infinity }, "out of range"],
    ["half a surrogate pair", { const: "\ud800" }, "surrogate"],
    ["half a surrogate pair in a name", { properties: { "\udc00": {} } }, "surrogate"],
    ["more text than a grammar is made from", { description: "x".repeat(1_000_001) }, "more than 1000000 characters"],
    ["a fault in an unused definition", { $defs: { a: { type: 1 } } }, "'/$defs/a/type'"],
  ])("%s", (_, schema, expected) => expect(refusal(schema)).toContain(expected));
});

describe("a schema that no value can satisfy", () => {
  test.each([
    ["false", false],
    ["crossed bounds", { minimum: 2, maximum: 1 }],
    ["an empty open range", { exclusiveMinimum: 1, maximum: 1 }],
    ["crossed lengths", { minLength: 2, maxLength: 1 }],
    ["crossed items", { minItems: 2, maxItems: 1 }],
    ["values of another type", { type: "string", enum: [1, null] }],
    ["const outside enum", { enum: [1], const: 2 }],
    ["parts that contradict", { allOf: [{ type: "string" }, { type: "integer" }] }],
    ["a forbidden property that is required", { properties: { a: false }, required: ["a"], type: "object" }],
    ["no whole number between", { type: "integer", minimum: 1.1, maximum: 1.9 }],
    ["no multiple between", { type: "integer", minimum: 4, maximum: 6, multipleOf: 7 }],
    ["a property that is not allowed", { type: "object", required: ["a"], additionalProperties: false }],
    ["itself inside itself", { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }],
    ["not anything", { not: {} }],
  ])("%s", (_, schema) => expect(refusal(schema)).toBeString());

  test("without a type is then accepted as it is", () => {
    expect(prepareSchema({ allOf: [{ minItems: 3 }, { maxItems: 1 }] }, PARAM).schema).toMatchObject({
      anyOf: expect.anything(),
    });
  });
});

describe("references", () => {
  test.each([
    ["another document", { $ref: "http://example.com/schema" }, "refers to another document"],
    ["nothing", { properties: { a: { $ref: "#/$defs/b" } } }, "'/properties/a/$ref': it refers to nothing"],
    ["an unknown anchor", { $ref: "#b" }, "refers to nothing"],
    ["a value that is not a schema", { $ref: "#/$defs/a/type", $defs: { a: { type: "string" } } }, "not a schema"],
    ["what inherits", { $ref: "#/toString" }, "refers to nothing"],
    ["broken escapes", { $ref: "#/%zz" }, "refers to nothing"],
    ["a number", { $ref: 1 }, "it must be a string"],
    ["itself", { $ref: "#" }, "refers to itself"],
    [
      "itself through others",
      {
        $ref: "#/$defs/a",
        $defs: { a: { anyOf: [{ type: "null" }, { $ref: "#/$defs/b" }] }, b: { allOf: [{ $ref: "#/$defs/a" }] } },
      },
      "refers to itself",
    ],
    ["itself in not", { not: { $ref: "#" } }, "refers to itself"],
  ])("to %s", (_, schema, expected) => expect(refusal(schema)).toContain(expected));
});

describe("size", () => {
  const nested = (levels: number, wrap: (inner: object) => object): object => {
    let schema: object = { type: "string" };
    for (let level = 0; level < levels; level++) schema = wrap(schema);
    return schema;
  };
  const definitions = (count: number, body: (next: object) => object) => ({
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `d${index}`,
        index === count - 1 ? { type: "string" } : body({ $ref: `#/$defs/d${index + 1}` }),
      ]),
    ),
  });

  test("is limited in depth, number of values and names", () => {
    expect(() =>
      prepareSchema(
        nested(63, (items) => ({ type: "array", items })),
        PARAM,
      ),
    ).not.toThrow();
    expect(refusal(nested(64, (items) => ({ type: "array", items })))).toContain(
      "more than 64 schemas are inside one another",
    );
    expect(refusal({ enum: Array.from({ length: 20_001 }, (_, index) => index) })).toContain("more than 20000 values");
    expect(refusal({ const: nested(300, (inner) => ({ inner })) })).toContain("nested deeper than 192 levels");
    expect(refusal({ properties: { ["x".repeat(257)]: {} } })).toContain("at most 256 characters, got 257");
    expect(refusal(definitions(400, (next) => next))).toContain("more than 256 schemas refer to one another");
    expect(refusal(definitions(200, (items) => ({ type: "array", items })))).toContain(
      "more than 128 arrays and objects",
    );
  });

  test("is limited when a schema multiplies, and the rest is reported as not enforced", () => {
    const twice = (keyword: string) => definitions(60, (next) => ({ [keyword]: [next, { ...next, maxLength: 9 }] }));
    for (const keyword of ["anyOf", "oneOf"]) {
      expect(prepareSchema(twice(keyword), PARAM).inexpressible).not.toEqual([]);
    }
    expect(prepareSchema(twice("allOf"), PARAM)).toEqual({
      schema: { type: "string", maxLength: 9 },
      inexpressible: [],
    });
    const conditions = Array.from({ length: 60 }, (_, index) => ({ properties: { [`a${index}`]: { const: 1 } } }));
    expect(
      prepareSchema({ allOf: conditions.map((one) => ({ if: one, else: { required: ["b"] } })) }, PARAM).inexpressible,
    ).not.toEqual([]);
    const greedy = { enum: ["a".repeat(5000)], pattern: "^(?:(?:a+)+)+b$" };
    expect(refusal(greedy)).toContain("no value");
  });

  test("is limited in the number of repetitions", () => {
    const properties = Array.from({ length: 90 }, (_, index) => [
      `p${index}`,
      { type: "string", maxLength: 1900 + index },
    ]);
    const { inexpressible } = prepareSchema({ type: "object", properties: Object.fromEntries(properties) }, PARAM);
    expect(inexpressible.length).toBeGreaterThan(30);
    expect(inexpressible.length).toBeLessThan(50);
  });
});

describe("alternatives open at the same place", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const record = (properties: object) => ({
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  });
  const tooMany = (got: number) => `at most 5000 alternatives may be open at once, got ${got}`;
  const signs = (from: number, count: number) =>
    String.fromCodePoint(...Array.from({ length: count }, (_, n) => 0x4e00 + from + n));
  const list = (count: number) => ({ enum: numbers(count).map((n) => signs(n, 2)) });
  const $defs = { signs: list(3000) };

  test("are limited in one list", () => {
    expect(() => prepareSchema(list(5000), PARAM)).not.toThrow();
    expect(refusal(list(5001))).toContain(tooMany(5001));
    expect(refusal(record({ a: { type: "array", items: list(6000) } }))).toContain(tooMany(6000));
    expect(refusal({ anyOf: numbers(5001).map((n) => ({ const: n })) })).toContain(tooMany(5001));
  });

  test("are limited in total over several alternatives", () => {
    const beside = numbers(40).map((n) => record({ a: { $ref: "#/$defs/signs" }, b: { const: n } }));
    expect(refusal({ $defs, anyOf: beside })).toContain(tooMany(120_000));
    const pattern = `^(?:${Array.from(signs(0, 300)).join("|")})$`;
    const patterns = numbers(40).map((n) => record({ a: { type: "string", pattern }, b: { const: n } }));
    expect(refusal({ anyOf: patterns })).toContain(tooMany(12_000));
    const optional = { properties: Object.fromEntries(numbers(199).map((n) => [`p${n}`, { type: "null" }])) };
    const options = numbers(200).map((n) => ({
      allOf: [{ $ref: "#/$defs/optional" }],
      properties: { q: { const: n } },
      unevaluatedProperties: false,
    }));
    expect(refusal({ $defs: { optional }, type: "object", anyOf: options })).toContain(tooMany(10_000));
  });

  test("do not count when they are at different places, or are told apart by a character or a tag", () => {
    const accepted = (schema: unknown) => expect(() => prepareSchema(schema, PARAM)).not.toThrow();
    accepted(record(Object.fromEntries(numbers(60).map((n) => [`p${n}`, list(300 + n)]))));
    accepted({ enum: numbers(15_000) });
    accepted({ enum: numbers(15_000).map((n) => `word ${n}`) });
    const tagged = (n: number) => record({ tag: { const: n }, a: { $ref: "#/$defs/signs" } });
    accepted({ $defs, anyOf: numbers(40).map(tagged) });
    accepted({ $defs, anyOf: numbers(40).map((n) => record({ [`p${n}`]: { $ref: "#/$defs/signs" } })) });
    const node = (n: number) => record({ tag: { const: n }, left: { $ref: "#" }, right: { $ref: "#" } });
    accepted({ anyOf: [{ type: "null" }, ...numbers(100).map(node)] });
  });

  test("have a lower limit when an answer begins with them and they are long", () => {
    const texts = { anyOf: numbers(4000).map((n) => ({ const: { text: "x".repeat(100) + n } })) };
    expect(refusal(texts)).toMatch(/times characters, may be at most 200000000, got 2\d{9}/);
    expect(() => prepareSchema(record({ a: texts }), PARAM)).not.toThrow();
    expect(() => prepareSchema({ enum: texts.anyOf.map((one) => one.const) }, PARAM)).not.toThrow();
  });
});

test("an error shows identifiers of a schema, and no other text of it", () => {
  const schema = { properties: { order_id: { properties: { "a secret\n": { anyOf: [{ type: "nonsense" }] } } } } };
  const message = refusal(schema);
  expect(message).toContain("'/properties/order_id/properties/…/anyOf/0/type'");
  expect(message).not.toContain("secret");
  expect(message).not.toContain("nonsense");
});
