import { describe, expect, test } from "bun:test";
import { prepareSchema } from "../../src/json-schema/prepare.ts";

/** Returns the rewritten schema; fails unless it is enforced completely. */
function exact(schema: unknown): object {
  const { schema: prepared, inexpressible } = prepareSchema(schema, "schema");
  expect(inexpressible).toEqual([]);
  return prepared;
}

const lost = (schema: unknown): readonly string[] => prepareSchema(schema, "schema").inexpressible;

const CLOSED = { additionalProperties: false };
const WIDE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

describe("types", () => {
  test("empty schemas allow everything", () => {
    expect(exact({})).toEqual({});
    expect(exact(true)).toEqual({});
    expect(exact({ type: "object", properties: { a: true, b: false } })).toEqual({
      type: "object",
      properties: { a: {} },
      ...CLOSED,
    });
  });

  test("several types and nullable become alternatives", () => {
    expect(exact({ type: ["string", "null"] })).toEqual({ anyOf: [{ type: "string" }, { type: "null" }] });
    expect(exact({ type: "integer", nullable: true })).toEqual({ anyOf: [{ type: "integer" }, { type: "null" }] });
  });

  test("keywords for one type imply that type", () => {
    expect(exact({ required: ["a"] })).toEqual({ type: "object", properties: { a: {} }, required: ["a"], ...CLOSED });
    expect(exact({ maxLength: 5 })).toEqual({ type: "string", maxLength: 5 });
    expect(exact({ items: { type: "null" } })).toEqual({ type: "array", items: { type: "null" } });
  });

  test("enumerated values are checked against the other keywords", () => {
    expect(exact({ type: "string", enum: ["a", 1, "bcd"], maxLength: 2 })).toEqual({ const: "a" });
    expect(exact({ enum: [1, 2, 3, 4], multipleOf: 2, not: { const: 4 } })).toEqual({ const: 2 });
    expect(exact({ enum: [[1], [1, 1]], uniqueItems: true })).toEqual({ const: [1] });
    expect(exact({ const: { a: 1 }, type: ["object", "null"] })).toEqual({ const: { a: 1 } });
    expect(exact({ enum: ["ab", "b"], pattern: "^a" })).toEqual({ const: "ab" });
  });

  test("descriptions are kept, even next to a reference", () => {
    const schema = {
      type: "object",
      description: "all",
      properties: { a: { $ref: "#/$defs/x", description: "here" }, b: { type: "string", title: "B", default: "x" } },
      $defs: { x: { type: "boolean", description: "there" } },
    };
    expect(exact(schema)).toEqual({
      type: "object",
      description: "all",
      properties: {
        a: { type: "boolean", description: "here" },
        b: { type: "string", title: "B", default: "x" },
      },
      ...CLOSED,
    });
  });
});

describe("numbers", () => {
  test("integers always get both bounds, with fractions rounded inwards, and the tighter bound counts", () => {
    expect(exact({ type: "integer" })).toEqual({ type: "integer" });
    expect(exact({ type: "integer", minimum: 0.5 })).toEqual({ type: "integer", ...WIDE, minimum: 1 });
    expect(exact({ type: "integer", exclusiveMaximum: 7, maximum: 9 })).toEqual({
      type: "integer",
      ...WIDE,
      maximum: 6,
    });
    expect(exact({ type: "integer", maximum: 5, exclusiveMaximum: true })).toMatchObject({ maximum: 4 });
    expect(
      exact({
        allOf: [
          { type: "integer", minimum: 1 },
          { type: "number", maximum: 1.5 },
        ],
      }),
    ).toMatchObject({
      minimum: 1,
      maximum: 1,
    });
  });

  test("bounds beyond the exact integers of a double are narrowed, or not enforced if nothing would remain", () => {
    expect(exact({ type: "integer", minimum: -1e300, maximum: 3 })).toEqual({ type: "integer", ...WIDE, maximum: 3 });
    expect(lost({ type: "integer", minimum: 1e300 })).toEqual(["/minimum"]);
  });

  test("multiples are enumerated when there are few", () => {
    expect(exact({ type: "integer", minimum: -5, maximum: 6, multipleOf: 5 })).toEqual({ enum: [-5, 0, 5] });
    expect(exact({ type: "integer", minimum: 0, maximum: 7, multipleOf: 1.5 })).toEqual({ enum: [0, 3, 6] });
    expect(exact({ type: "integer", multipleOf: 0.5 })).toEqual({ type: "integer" });
    expect(exact({ type: "number", multipleOf: 1, minimum: 2 })).toEqual({ type: "integer", ...WIDE, minimum: 2 });
    expect(lost({ type: "integer", multipleOf: 3 })).toEqual(["/multipleOf"]);
  });

  test("bounds of fractions are not enforced", () => {
    expect(lost({ type: "number", minimum: 0, maximum: 1 })).toEqual(["/minimum", "/maximum"]);
    expect(exact({ type: "number", minimum: 1.5, maximum: 1.5 })).toEqual({ const: 1.5 });
  });
});

describe("strings", () => {
  test("lengths are enforced", () => {
    expect(exact({ type: "string", minLength: 1, maxLength: 9 })).toEqual({
      type: "string",
      minLength: 1,
      maxLength: 9,
    });
    // The converter counts the two escapes of a surrogate pair as two characters.
    expect(exact({ type: "string", minLength: 2 })).toEqual({
      type: "string",
      pattern: expect.stringContaining("{2,}"),
    });
    expect(prepareSchema({ type: "string", minLength: 1, maxLength: 5000 }, "s")).toEqual({
      schema: { type: "string", minLength: 1 },
      inexpressible: ["/maxLength"],
    });
    expect(lost({ type: "string", minLength: 5000 })).toEqual(["/minLength"]);
  });

  test("a pattern includes the length limits next to it", () => {
    expect(exact({ type: "string", pattern: "^[a-z]*$", minLength: 2, maxLength: 9 })).toMatchObject({
      pattern: "^[a-z]{2,9}$",
    });
    expect(exact({ type: "string", pattern: "^[a-z]{3}$", maxLength: 9 })).toMatchObject({ pattern: "^[a-z]{3}$" });
    expect(lost({ type: "string", pattern: "^(?:ab|c+)+$", maxLength: 9 })).toEqual(["/maxLength"]);
  });

  test("one pattern or format is enforced, and others are not", () => {
    expect(lost({ type: "string", pattern: "^a", format: "email" })).toEqual(["/format"]);
    expect(lost({ allOf: [{ pattern: "a" }, { pattern: "b" }, { pattern: "a" }] })).toEqual(["/allOf/1/pattern"]);
    expect(lost({ type: "string", pattern: "(?=a)b" })).toEqual(["/pattern"]);
    expect(lost({ type: "string", format: "regex" })).toEqual(["/format"]);
    expect(exact({ type: "string", format: "colour" })).toEqual({ type: "string", format: "colour" });
  });
});

describe("arrays", () => {
  test("lists have items and lengths", () => {
    const list = { type: "array", items: { type: "boolean" }, minItems: 1, maxItems: 3 };
    expect(exact(list)).toEqual(list);
    expect(exact({ ...list, uniqueItems: true, minItems: 0, maxItems: 1 })).toMatchObject({ maxItems: 1 });
    expect(lost({ ...list, uniqueItems: true })).toEqual(["/uniqueItems"]);
    expect(lost({ type: "array", contains: { const: 1 } })).toEqual(["/contains"]);
    expect(exact({ type: "array", contains: {}, minContains: 2 })).toEqual({ type: "array", minItems: 2 });
    expect(exact({ type: "array", items: false })).toEqual({ type: "array", maxItems: 0 });
    expect(prepareSchema({ type: "array", maxItems: 4000 }, "s")).toEqual({
      schema: { type: "array" },
      inexpressible: ["/maxItems"],
    });
  });

  test("tuples have the length of their prefix unless the limits differ", () => {
    const prefixItems = [{ type: "string" }, { type: "integer" }];
    const tuple = { type: "array", prefixItems };
    expect(exact(tuple)).toEqual(tuple);
    expect(exact({ ...tuple, items: false, minItems: 2 })).toEqual(tuple);
    expect(exact({ type: "array", items: prefixItems, additionalItems: false })).toEqual(tuple);
    expect(exact({ ...tuple, maxItems: 1 })).toEqual({ type: "array", prefixItems: [{ type: "string" }] });
    expect(exact({ ...tuple, minItems: 1, items: { type: "null" }, maxItems: 3 })).toEqual({
      anyOf: [
        { type: "array", prefixItems: [{ type: "string" }] },
        tuple,
        { type: "array", prefixItems: [...prefixItems, { type: "null" }] },
      ],
    });
  });
});

describe("objects", () => {
  const a = { type: "string" };

  test("known properties exclude others, whatever additionalProperties says", () => {
    const closed = { type: "object", properties: { a }, required: ["a"], ...CLOSED };
    expect(exact({ type: "object", properties: { a }, required: ["a"] })).toEqual(closed);
    expect(exact({ ...closed, additionalProperties: { type: "integer" } })).toEqual(closed);
    expect(exact({ type: "object" })).toEqual({ type: "object" });
    expect(exact({ type: "object", additionalProperties: a })).toEqual({ type: "object", additionalProperties: a });
    expect(exact({ type: "object", additionalProperties: false })).toMatchObject({ properties: {}, ...CLOSED });
  });

  test("a required name without a description gets the schema of additional properties", () => {
    expect(exact({ type: "object", required: ["x"], additionalProperties: a })).toMatchObject({ properties: { x: a } });
    expect(exact({ type: "object", required: ["x1"], patternProperties: { "\\d": a } })).toMatchObject({
      properties: { x1: a },
    });
  });

  test("patternProperties and propertyNames apply to known names", () => {
    const patternProperties = { "^n": { maxLength: 3 } };
    expect(exact({ type: "object", properties: { n: a, m: a }, patternProperties })).toMatchObject({
      properties: { n: { type: "string", maxLength: 3 }, m: a },
    });
    expect(exact({ type: "object", properties: { ab: a, c: a }, propertyNames: { maxLength: 1 } })).toMatchObject({
      properties: { c: a },
    });
    expect(exact({ type: "object", propertyNames: { enum: ["x", "y"] }, additionalProperties: a })).toMatchObject({
      properties: { x: a, y: a },
    });
    expect(lost({ type: "object", patternProperties: { "^n": a }, additionalProperties: false })).toEqual([
      "/patternProperties",
    ]);
    expect(lost({ type: "object", propertyNames: { pattern: "^n" } })).toEqual(["/propertyNames"]);
  });

  test("numbers of properties are enforced where possible", () => {
    const both = { type: "object", properties: { a, b: a }, ...CLOSED };
    expect(exact({ ...both, minProperties: 2 })).toEqual({ ...both, required: ["a", "b"] });
    expect(exact({ ...both, maxProperties: 2 })).toEqual(both);
    expect(exact({ ...both, required: ["b"], maxProperties: 1 })).toEqual({
      ...both,
      properties: { b: a },
      required: ["b"],
    });
    expect(exact({ ...both, minProperties: 1 })).toEqual({
      anyOf: [
        { ...both, required: ["a"] },
        { ...both, properties: { b: a }, required: ["b"] },
      ],
    });
    expect(lost({ type: "object", properties: { a, b: a, c: a }, minProperties: 2 })).toEqual(["/minProperties"]);
    expect(lost({ type: "object", minProperties: 1 })).toEqual(["/minProperties"]);
  });

  test("dependencies become alternatives", () => {
    const schema = { type: "object", properties: { a, b: a }, dependentRequired: { a: ["b"] } };
    expect(exact(schema)).toEqual({
      anyOf: [
        { type: "object", properties: { b: a }, ...CLOSED },
        { type: "object", properties: { a, b: a }, required: ["a", "b"], ...CLOSED },
      ],
    });
    const { dependentRequired, ...rest } = schema;
    expect(exact({ ...rest, dependencies: dependentRequired })).toEqual(exact(schema));
    expect(exact({ ...rest, dependentSchemas: { a: { required: ["b"] } } })).toEqual(exact(schema));
  });

  test("names that the converter would misinterpret are nested one level deeper", () => {
    const property = { type: "object", properties: { "": { type: "integer" } }, ...CLOSED };
    expect(exact(property)).toEqual({ anyOf: [property] });
  });

  test("names of JavaScript's built-in properties are treated like any other", () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"null"},"constructor":{"type":"null"}}}',
    );
    expect(Object.keys((exact(schema) as { properties: object }).properties)).toEqual(["__proto__", "constructor"]);
  });
});

test("the same schema always gives the same result, and is not modified", () => {
  const schema = {
    type: "object",
    properties: { tree: { $ref: "#/$defs/t" }, d: { type: "string", format: "date" } },
    $defs: { t: { type: "array", items: { anyOf: [{ $ref: "#/$defs/t" }, { type: "integer", minimum: 3 }] } } },
  };
  const before = JSON.stringify(schema);
  const [first, second] = [prepareSchema(schema, "s"), prepareSchema(JSON.parse(before), "s")];
  expect(JSON.stringify(first)).toBe(JSON.stringify(second));
  expect(JSON.stringify(schema)).toBe(before);
});
