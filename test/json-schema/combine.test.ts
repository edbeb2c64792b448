import { describe, expect, test } from "bun:test";
import { prepareSchema } from "../../src/json-schema/prepare.ts";
import { keyword } from "./random-schema.ts";

/** Returns the rewritten schema; fails unless it is enforced completely. */
function exact(schema: unknown): object {
  const { schema: prepared, inexpressible } = prepareSchema(schema, "schema");
  expect(inexpressible).toEqual([]);
  return prepared;
}

const lost = (schema: unknown): readonly string[] => prepareSchema(schema, "schema").inexpressible;

const object = (properties: object, required: readonly string[] = []) => ({
  type: "object",
  properties,
  ...(required.length > 0 && { required }),
  additionalProperties: false,
});
const text = { type: "string" };

describe("references", () => {
  const list = { type: "object", properties: { next: { $ref: "#" } } };

  test.each([
    ["a pointer", { $ref: "#/$defs/a", $defs: { a: text } }],
    ["an older keyword", { $ref: "#/definitions/a", definitions: { a: text } }],
    ["escapes", { $ref: "#/$defs/a~1b~0c%25d%20e", $defs: { "a/b~c%d e": text } }],
    ["an anchor", { $ref: "#x", $defs: { a: { $anchor: "x", ...text } } }],
    [
      "an id",
      { $id: "http://example.com/root", $ref: "other#/$defs/b", $defs: { a: { $id: "other", $defs: { b: text } } } },
    ],
    [
      "an anchor of another id",
      { $ref: "http://e.com/o#x", $defs: { a: { $id: "http://e.com/o", $defs: { b: { $anchor: "x", ...text } } } } },
    ],
    ["a dynamic anchor", { $dynamicRef: "#x", $defs: { a: { $dynamicAnchor: "x", ...text } } }],
    ["a place that is no known keyword", { $ref: "#/components/schemas/0", components: { schemas: [text] } }],
    ["a chain", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: text } }],
  ])("%s is followed", (_, schema) => expect(exact(schema)).toEqual(text));

  test("a recursive schema gets definitions with unique names", () => {
    const schema = exact(list) as { properties: { next: { $ref: string } }; $defs: Record<string, object> };
    const [name] = Object.keys(schema.$defs);
    expect(schema.properties.next.$ref).toBe(`#/$defs/${name}`);
    expect(schema.$defs[String(name)]).toEqual({ ...object({ next: { $ref: `#/$defs/${name}` } }) });
    const other = exact({ ...list, description: "another" }) as { $defs: object };
    expect(Object.keys(other.$defs)).not.toEqual([name]);
  });

  test("keywords next to a reference apply as well", () => {
    expect(exact({ $ref: "#/$defs/a", maxLength: 3, $defs: { a: text } })).toEqual({ type: "string", maxLength: 3 });
    expect(
      exact({ $ref: "#/$defs/a", required: ["n"], $defs: { a: { type: "object", properties: { n: text } } } }),
    ).toEqual(object({ n: text }, ["n"]));
  });

  test("a value that would have to contain itself is impossible", () => {
    const node = { type: "object", properties: { me: { $ref: "#/$defs/n" }, x: text }, required: ["me"] };
    expect(exact({ type: "array", items: { $ref: "#/$defs/n" }, $defs: { n: node } })).toEqual({
      type: "array",
      maxItems: 0,
    });
    const open = {
      ...node,
      properties: { ...node.properties, me: { anyOf: [{ $ref: "#/$defs/n" }, { type: "null" }] } },
    };
    expect(exact({ $ref: "#/$defs/n", $defs: { n: open } })).toMatchObject({ required: ["me"] });
    expect(exact({ type: "array", prefixItems: [{ $ref: "#" }] })).toMatchObject({
      anyOf: [
        { type: "array", prefixItems: [] },
        { type: "array", prefixItems: [{}] },
      ],
    });
  });
});

describe("allOf", () => {
  test("merges objects, including nested ones and those behind references", () => {
    const schema = {
      allOf: [
        { $ref: "#/$defs/base" },
        { properties: { a: { properties: { y: { type: "integer" } }, required: ["y"] }, c: text } },
      ],
      $defs: {
        base: { type: "object", properties: { a: { type: "object", properties: { x: text } } }, required: ["a"] },
      },
    };
    expect(exact(schema)).toEqual(object({ a: object({ x: text, y: { type: "integer" } }, ["y"]), c: text }, ["a"]));
  });

  test("limits additionalProperties of one part to the properties of that part", () => {
    const schema = {
      allOf: [{ type: "object", properties: { a: text }, additionalProperties: false }, { properties: { b: text } }],
    };
    expect(exact(schema)).toEqual(object({ a: text }));
  });

  test("multiplies out alternatives", () => {
    const schema = {
      type: "object",
      properties: { a: text, b: text },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    expect(exact(schema)).toEqual({
      anyOf: [object({ a: text, b: text }, ["a"]), object({ a: text, b: text }, ["b"])],
    });
    expect(exact({ type: ["string", "integer"], anyOf: [{ maxLength: 2 }, { type: "null" }] })).toEqual({
      anyOf: [{ type: "string", maxLength: 2 }, { type: "integer" }],
    });
  });
});

describe("oneOf", () => {
  const cat = {
    type: "object",
    properties: { kind: { const: "cat" }, lives: { type: "integer" } },
    required: ["kind"],
  };
  const dog = { type: "object", properties: { kind: { const: "dog" } }, required: ["kind"] };

  test("turns variants that exclude each other into alternatives", () => {
    expect(exact({ oneOf: [cat, dog] })).toEqual({
      anyOf: [
        object({ kind: { const: "cat" }, lives: { type: "integer" } }, ["kind"]),
        object({ kind: { const: "dog" } }, ["kind"]),
      ],
    });
    expect(exact({ oneOf: [text, { type: "null" }] })).toEqual({ anyOf: [text, { type: "null" }] });
    expect(
      exact({ type: "object", properties: { a: text, b: text }, oneOf: [{ required: ["a"] }, { required: ["b"] }] }),
    ).toEqual({
      anyOf: [object({ a: text }, ["a"]), object({ b: text }, ["b"])],
    });
  });

  test("removes overlaps where they can be expressed", () => {
    expect(exact({ oneOf: [{ enum: ["a", "b"] }, { enum: ["b", "c"] }] })).toEqual({
      anyOf: [{ const: "a" }, { const: "c" }],
    });
    const [low, high] = [
      { type: "integer", minimum: 0, maximum: 9 },
      { type: "integer", minimum: 5, maximum: 20 },
    ];
    expect(exact({ oneOf: [low, high] })).toEqual({
      anyOf: [
        { ...low, maximum: 4 },
        { ...high, minimum: 10 },
      ],
    });
    const optional = (kind: string) => ({ type: "object", properties: { kind: { const: kind } } });
    expect(exact({ oneOf: [optional("a"), optional("b")] })).toEqual({
      anyOf: [object({ kind: { const: "a" } }, ["kind"]), object({ kind: { const: "b" } }, ["kind"])],
    });
  });

  test("does not enforce other overlaps, and gives no property a wrong value", () => {
    const schema = {
      oneOf: [
        { type: "object", properties: { a: text } },
        { type: "object", properties: { b: text } },
      ],
    };
    expect(prepareSchema(schema, "s")).toEqual({
      schema: { anyOf: [object({ a: text }), object({ b: text })] },
      inexpressible: ["/oneOf"],
    });
    expect(lost({ oneOf: [text, { type: "string", pattern: "a" }] })).toEqual(["/oneOf"]);
  });

  test("handles a hundred variants", () => {
    const variants = Array.from({ length: 100 }, (_, index) => ({ ...dog, properties: { kind: { const: index } } }));
    expect(exact({ oneOf: variants })).toMatchObject({ anyOf: variants });
  });
});

describe("not and if", () => {
  test("not excludes types, values, lengths and properties", () => {
    expect(exact({ type: ["string", "null"], not: { type: "null" } })).toEqual(text);
    expect(exact({ enum: [1, 2, 3], not: { enum: [2] } })).toEqual({ enum: [1, 3] });
    expect(exact({ type: "string", not: { minLength: 4 } })).toEqual({ type: "string", maxLength: 3 });
    expect(exact({ type: "object", properties: { a: text, b: text }, not: { required: ["a"] } })).toEqual(
      object({ b: text }),
    );
    expect(exact({ type: "string", not: { anyOf: [{ type: "integer" }, { maxLength: 0 }] } })).toEqual({
      type: "string",
      minLength: 1,
    });
    expect(lost({ type: "string", not: { pattern: "a" } })).toEqual(["/not"]);
    expect(lost({ type: "string", not: { const: "a" } })).toEqual(["/not"]);
  });

  test("a condition on values becomes alternatives", () => {
    const schema = {
      type: "object",
      properties: { country: { enum: ["US", "DE"] }, zip: text, plz: text },
      required: ["country"],
      if: { properties: { country: { const: "US" } } },
      ...keyword("then", { required: ["zip"] }),
      else: { required: ["plz"] },
    };
    expect(exact(schema)).toEqual({
      anyOf: [
        object({ country: { const: "US" }, zip: text, plz: text }, ["country", "zip"]),
        object({ country: { const: "DE" }, zip: text, plz: text }, ["country", "plz"]),
      ],
    });
  });

  test("a condition that cannot be negated is not enforced", () => {
    const schema = { type: "string", if: { pattern: "^a" }, ...keyword("then", { maxLength: 3 }) };
    expect(lost(schema)).toEqual(["/if"]);
  });
});

describe("unevaluated", () => {
  test("properties described by other subschemas count as evaluated", () => {
    const schema = {
      type: "object",
      properties: { a: text },
      allOf: [{ properties: { b: text } }],
      anyOf: [{ properties: { c: text }, required: ["c"] }, { properties: { d: text } }],
      unevaluatedProperties: false,
    };
    expect(exact(schema)).toEqual({
      anyOf: [object({ a: text, b: text, c: text }, ["c"]), object({ a: text, b: text, d: text })],
    });
    const cousins = { type: "object", allOf: [{ properties: { a: text } }, { unevaluatedProperties: false }] };
    expect(exact(cousins)).toEqual(object({}));
  });

  test("items are enforced", () => {
    const schema = { type: "array", allOf: [{ prefixItems: [text] }], unevaluatedItems: false };
    expect(exact(schema)).toEqual({ type: "array", prefixItems: [text] });
  });
});
