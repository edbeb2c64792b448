// Reads the plain keywords of one subschema and checks their types.

import { defined } from "../domain/defined.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { fault, UnusableKeyword } from "./fault.ts";
import { kindOf, valueKey, ValueList } from "./json-value.ts";
import { KIND, TYPE_KINDS, type Kinds } from "./kinds.ts";
import { MAX_NAME_LENGTH } from "./limits.ts";
import { isRegex } from "./regex-parser.ts";
import { under, type Bound, type NumberFacts, type SchemaFields, type StringFacts } from "./schema-node.ts";

/** The keywords of one raw subschema. Every method throws SvcError when a keyword has a value that it cannot have. */
export class KeywordReader {
  constructor(
    private readonly raw: JsonObject,
    private readonly at: string,
    private readonly param: string,
  ) {}

  has(keyword: string): boolean {
    return Object.hasOwn(this.raw, keyword) && this.raw[keyword] !== undefined;
  }

  fail(keyword: string, problem: string): never {
    throw fault(this.param, under(this.at, keyword), problem);
  }

  private unusable(keyword: string, problem: string): never {
    throw new UnusableKeyword(this.param, this.at, keyword, problem);
  }

  /** Returns a whole number of at least 0. Absurdly large numbers are accepted; they act as no limit. */
  count(keyword: string): number | undefined {
    const value = this.number(keyword);
    if (value === undefined) return undefined;
    return Number.isInteger(value) && value >= 0 ? value : this.fail(keyword, "it must be a whole number from 0");
  }

  number(keyword: string): number | undefined {
    return this.typed(keyword, (value) => typeof value === "number", "a number");
  }

  string(keyword: string): string | undefined {
    return this.typed(keyword, (value) => typeof value === "string", "a string");
  }

  flag(keyword: string): boolean {
    return this.typed(keyword, (value) => typeof value === "boolean", "a boolean") ?? false;
  }

  list(keyword: string): readonly unknown[] | undefined {
    return this.typed(keyword, (value): value is unknown[] => Array.isArray(value), "an array");
  }

  map(keyword: string): JsonObject | undefined {
    return this.typed(keyword, isObject, "an object");
  }

  private typed<T>(keyword: string, is: (value: unknown) => value is T, type: string): T | undefined {
    if (!this.has(keyword)) return undefined;
    const value = this.raw[keyword];
    return is(value) ? value : this.fail(keyword, `it must be ${type}, got ${typeName(value)}`);
  }

  /** Returns a list of property names without duplicates. */
  names(keyword: string, list = this.list(keyword)): readonly string[] | undefined {
    list?.forEach((name) => {
      if (typeof name !== "string") this.fail(keyword, `it must hold strings, got ${typeName(name)}`);
      this.checkName(keyword, name);
    });
    return list && [...new Set(list as readonly string[])];
  }

  checkName(keyword: string, name: string): void {
    if (name.length <= MAX_NAME_LENGTH) return;
    this.fail(keyword, `property names have at most ${MAX_NAME_LENGTH} characters, got ${name.length}`);
  }

  /** Reads `type`, `enum` and `const`. */
  kindsAndValues(): SchemaFields {
    const kinds = this.kinds();
    const enumerated = this.list("enum");
    if (enumerated?.length === 0) this.unusable("enum", "it must not be empty");
    const lists = [...(enumerated ? [enumerated] : []), ...(this.has("const") ? [[this.raw["const"]]] : [])];
    const values = lists.map((list) => new ValueList(list));
    if (values.length === 0) return kinds === undefined ? {} : { kinds };
    const inType = lists[0]?.some((value) => kinds === undefined || (kinds & kindOf(value)) !== 0);
    if (!inType) this.unusable(enumerated ? "enum" : "const", "nothing in it has the 'type' beside it");
    if (values.length === 2 && !values[0]?.byKey.has(valueKey(this.raw["const"]))) {
      this.unusable("const", "it is not in the 'enum' beside it");
    }
    return { ...(kinds !== undefined && { kinds }), values };
  }

  private kinds(): Kinds | undefined {
    const type = this.raw["type"];
    if (type === undefined) return undefined;
    const names: readonly unknown[] = Array.isArray(type) ? type : [type];
    if (names.length === 0) this.fail("type", "it must not be empty");
    const nullable = this.flag("nullable") ? KIND.null : 0;
    return names.reduce<Kinds>((all, name) => {
      const kind = typeof name === "string" ? TYPE_KINDS.get(name) : undefined;
      return kind === undefined
        ? this.fail("type", `it must be one of ${[...TYPE_KINDS.keys()].join(", ")}`)
        : all | kind;
    }, nullable);
  }

  numberFacts(): NumberFacts | undefined {
    const min = this.bound("minimum", "exclusiveMinimum", (a, b) => a > b);
    const max = this.bound("maximum", "exclusiveMaximum", (a, b) => a < b);
    const multipleOf = this.number("multipleOf");
    if (multipleOf !== undefined && multipleOf <= 0) this.fail("multipleOf", "it must be above 0");
    if (min && max && (min.value > max.value || (min.value === max.value && (min.exclusive || max.exclusive)))) {
      this.unusable(min.keyword, `it leaves no number below '${max.keyword}'`);
    }
    if (!min && !max && multipleOf === undefined) return undefined;
    return { ...(min && { min }), ...(max && { max }), ...(multipleOf !== undefined && { multipleOf }) };
  }

  /** Returns the tighter of an inclusive and an exclusive bound. In draft 4 the exclusive keyword is a flag. */
  private bound(keyword: string, exclusive: string, tighter: (a: number, b: number) => boolean): Bound | undefined {
    const value = this.number(keyword);
    if (typeof this.raw[exclusive] === "boolean") {
      return value === undefined ? undefined : { value, exclusive: this.flag(exclusive), keyword };
    }
    const other = this.number(exclusive);
    if (other !== undefined && (value === undefined || !tighter(value, other))) {
      return { value: other, exclusive: true, keyword: exclusive };
    }
    return value === undefined ? undefined : { value, exclusive: false, keyword };
  }

  stringFacts(): StringFacts | undefined {
    const [minLength, maxLength] = this.range("minLength", "maxLength");
    const pattern = this.string("pattern");
    if (pattern !== undefined) this.checkRegex("pattern", pattern);
    const format = this.string("format");
    const facts = defined({ minLength, maxLength, pattern, format });
    return Object.keys(facts).length > 0 ? facts : undefined;
  }

  checkRegex(keyword: string, source: string): void {
    if (!isRegex(source)) this.unusable(keyword, "it is not a valid ECMA-262 regular expression");
  }

  /** Reads a smallest and a largest count. */
  range(low: string, high: string): [number | undefined, number | undefined] {
    const [min, max] = [this.count(low), this.count(high)];
    if (min !== undefined && max !== undefined && min > max) this.unusable(low, `it is larger than '${high}'`);
    return [min, max];
  }

  notes(): SchemaFields {
    const notes = Object.entries(this.raw).filter(
      ([keyword, value]) =>
        ((keyword === "title" || keyword === "description") && typeof value === "string") || keyword === "default",
    );
    return notes.length > 0 ? { notes: Object.fromEntries(notes) } : {};
  }
}

export function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
