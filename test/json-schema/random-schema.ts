// Generates random schemas like those that people write for structured output, and slightly stranger ones.

import type { Random } from "./grammar-walk.ts";

type Schema = Record<string, unknown>;

const NAMES = ["name", "age", "kind", "items", "note", "id", "date_time", "a-b", "é", "next", "*", 'quo"te'];
const WORDS = ["red", "green", "blue", "", "a b", 'say "hi"', "back\\slash", "line\nbreak", "ünï"];
const PATTERNS = [
  "^[a-z]+$",
  "^\\d{3}-\\d{4}$",
  "^(foo|ba[rz])?$",
  "x",
  "^[^a-c]{2,}$",
  "^\\w+(?:\\.\\w+)*$",
  "^.{1,8}$",
  '^"[\\s\\S]*"$',
  "^(?:a|b*)*$",
  "end$",
  "^[\\u00e0-\\u00ff]{1,3}$",
];

/** Returns a schema with this keyword. The linter would take an object literal with a field `then` for a promise. */
export const keyword = (name: string, value: unknown): Schema => Object.fromEntries([[name, value]]);

export class SchemaMaker {
  private definitions: string[] = [];

  constructor(private readonly random: Random) {}

  /** Returns a schema, whose parts may contradict each other. */
  schema(): Schema {
    this.definitions = this.below(3) === 0 ? ["node", "leaf"].slice(0, 1 + this.below(2)) : [];
    const names = this.definitions;
    const root = this.node(3);
    if (names.length === 0) return root;
    // A definition may contain itself, but only in optional parts.
    return { ...root, $defs: Object.fromEntries(names.map((name) => [name, this.object(2, true)])) };
  }

  private node(depth: number): Schema {
    const kind = this.below(depth > 0 ? 19 : 9);
    if (kind < 3) return this.string();
    if (kind < 5) return this.integer();
    if (kind === 5) return this.one<Schema>([{ type: "boolean" }, { type: "null" }, { type: "number" }]);
    if (kind === 6) return { enum: this.some([...WORDS, 1, 2.5, null, true, [1, "x"], { a: 1 }], 1, 4) };
    if (kind === 7) return { const: this.one<unknown>([...WORDS, 7, null, { b: [] }]) };
    if (kind === 8) return { type: this.some(["string", "integer", "null", "boolean", "number"], 1, 3) };
    if (kind < 13) return this.object(depth, false);
    if (kind < 16) return this.array(depth);
    return this.combined(depth, kind);
  }

  private string(): Schema {
    const schema: Schema = { type: "string" };
    const [min, max] = [this.below(5), 3 + this.below(9)];
    const choice = this.below(6);
    if (choice === 0) schema["pattern"] = this.one(PATTERNS);
    if (choice === 1 || choice === 2) schema["minLength"] = min;
    if (choice === 2 || choice === 3) schema["maxLength"] = max;
    if (choice === 4) Object.assign(schema, { pattern: this.one(PATTERNS), maxLength: max });
    return schema;
  }

  private integer(): Schema {
    const schema: Schema = { type: "integer" };
    const edge = () => (this.below(2) === 0 ? this.below(40) - 20 : this.below(2_000_000) - 1_000_000);
    const [a, b] = [edge(), edge()];
    if (this.below(2) === 0) schema[this.one(["minimum", "exclusiveMinimum"])] = Math.min(a, b);
    if (this.below(2) === 0) schema[this.one(["maximum", "exclusiveMaximum"])] = Math.max(a, b) + 2;
    if (this.below(8) === 0) schema["multipleOf"] = this.one([1, 2, 5, 0.5]);
    return schema;
  }

  private object(depth: number, isDefinition: boolean): Schema {
    const names = this.some(NAMES, isDefinition ? 1 : 0, 4);
    const properties = names.map((name) => [name, this.property(depth - 1)] as const);
    const schema: Schema = { type: "object", properties: Object.fromEntries(properties) };
    const safe = properties.filter(([, value]) => !isDefinition || !("$ref" in value)).map(([name]) => name);
    if (this.below(4) > 0) schema["required"] = this.some(safe, 0, safe.length);
    if (this.below(6) === 0 && !isDefinition)
      schema["required"] = [...((schema["required"] as string[]) ?? []), "extra"];
    if (this.below(3) === 0) schema["additionalProperties"] = this.one([false, true, { type: "string" }]);
    if (this.below(8) === 0) schema["minProperties"] = 1;
    if (this.below(10) === 0) schema["maxProperties"] = 1 + this.below(2);
    if (this.below(12) === 0 && names[1] !== undefined)
      schema["dependentRequired"] = { [String(names[0])]: [names[1]] };
    if (names.length === 0 && this.below(2) === 0)
      return { type: "object", additionalProperties: this.node(depth - 1) };
    return schema;
  }

  private property(depth: number): Schema {
    const name = this.one(this.definitions);
    if (name !== undefined && this.below(3) === 0) return { $ref: `#/$defs/${name}` };
    return this.node(depth);
  }

  private array(depth: number): Schema {
    if (this.below(4) === 0) {
      const prefixItems = [this.node(depth - 1), this.node(depth - 1)];
      const items = this.one<unknown>([false, { type: "integer" }, undefined]);
      return {
        type: "array",
        prefixItems,
        ...(items !== undefined && { items }),
        ...(this.below(2) === 0 && { minItems: 1 }),
      };
    }
    const min = this.below(3);
    return {
      type: "array",
      items: this.property(depth - 1),
      ...(this.below(2) === 0 && { minItems: min }),
      ...(this.below(2) === 0 && { maxItems: min + this.below(4) }),
      ...(this.below(12) === 0 && { maxItems: 1, minItems: 0, uniqueItems: true }),
    };
  }

  private combined(depth: number, kind: number): Schema {
    const parts = Array.from({ length: 2 + this.below(2) }, () => this.node(depth - 1));
    if (kind === 16) return { anyOf: parts };
    if (kind === 17) return this.below(2) === 0 ? this.union() : { oneOf: parts };
    const [a, b] = [this.object(depth, false), this.object(depth, false)];
    return this.one<Schema>([
      { allOf: [a, b] },
      { ...a, allOf: [b] },
      { ...a, anyOf: [b, { required: ["id"] }] },
      { ...a, not: { required: ["name"] } },
      { ...this.string(), not: { const: this.one(WORDS) } },
      { ...this.integer(), not: this.one<Schema>([{ const: 7 }, { minimum: 10 }, { type: "number" }]) },
      { not: this.node(1) },
      { ...a, if: { properties: { kind: { const: "x" } }, required: ["kind"] }, ...keyword("then", b) },
      { ...a, unevaluatedProperties: false, allOf: [b] },
    ]);
  }

  /** Returns variants that a property distinguishes. */
  private union(): Schema {
    const variants = ["cat", "dog", "bird"].map((kind) => {
      const { properties } = this.object(1, false);
      return { type: "object", properties: { ...(properties as Schema), kind: { const: kind } }, required: ["kind"] };
    });
    return { oneOf: variants };
  }

  private below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  private one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Returns `least` to `most` items of a list, in order. */
  private some<T>(list: readonly T[], least: number, most: number): T[] {
    const count = Math.min(list.length, least + this.below(most - least + 1));
    const chosen = new Set<T>();
    while (chosen.size < count) chosen.add(this.one(list));
    return list.filter((item) => chosen.has(item));
  }
}
