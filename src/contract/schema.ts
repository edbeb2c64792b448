// The only file that imports TypeBox: the schema builder, optional fields, and checks with explanatory errors.

import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { TypeCompiler, type TypeCheck } from "@sinclair/typebox/compiler";
import { ValueErrorType, type ValueError } from "@sinclair/typebox/errors";
import { isObject } from "../domain/json.ts";
import { missing, shownName, SvcError } from "../domain/errors.ts";

export { Type as t };
export type { Static, TSchema };

/** A field that may be absent or null; many clients send null for "not set". */
export const opt = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));

/** An optional field whose only rule is that it is text. */
export const optText = (description: string) => opt(Type.String({ description }));

/** An optional boolean field. */
export const optFlag = (description: string) => opt(Type.Boolean({ description }));

/** An optional integer field within these bounds. */
export const optInteger = (bounds: { readonly minimum: number; readonly maximum?: number }, description: string) =>
  opt(Type.Integer({ ...bounds, description }));

/** A value that is always present and may be null. */
export const nullable = <S extends TSchema>(schema: S, options?: { readonly description: string }) =>
  Type.Union([schema, Type.Null()], options);

export const JsonObject = Type.Record(Type.String(), Type.Unknown());

/** One of a closed set of strings. */
export const oneOf = <const V extends string>(...values: V[]) =>
  Type.Unsafe<V>(Type.Union(values.map((value) => Type.Literal(value))));

/**
 * Returns a check of a JSON request body against `schema`, which is compiled on first use. The check returns the value
 * unchanged (unknown fields stay) or throws SvcError `missing_required_parameter`, `invalid_type` or `invalid_value`
 * about the first violation. The message names the field, what it must be, and the type or size received, never its
 * text.
 */
export function checker<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const check = partChecker(schema);
  return (value) => check(value, "");
}

/** Returns a check like `checker`, of a part of the body in the field `at`. */
export function partChecker<S extends TSchema>(schema: S): (value: unknown, at: string) => Static<S> {
  const checks = new Checks();
  return (value, at) => {
    if (checks.of(schema).Check(value)) return value as Static<S>;
    const error = checks.firstError(schema, value);
    if (!error) throw new SvcError("invalid_value", "The request body is not valid.");
    throw violation(error, at);
  };
}

interface Part {
  readonly name: string | number;
  readonly schema: TSchema;
  readonly value: unknown;
}

/** The compiled checks of a schema and its parts. */
class Checks {
  private readonly compiled = new Map<TSchema, TypeCheck<TSchema>>();

  of(schema: TSchema): TypeCheck<TSchema> {
    const check = this.compiled.get(schema) ?? TypeCompiler.Compile(schema);
    this.compiled.set(schema, check);
    return check;
  }

  /**
   * Returns the first error of a value that violates the schema: the one that TypeBox finds; for a union, which has no
   * reason, that of the alternative nearest to the value, the first of several. TypeBox takes 50 times as long to look
   * for errors as to check, so checks of the parts lead to the wrong one.
   */
  firstError(schema: TSchema, value: unknown, path = ""): ValueError | undefined {
    const part = this.wrongPart(schema, value);
    if (part) return this.firstError(part.schema, part.value, `${path}/${part.name}`);
    const nearest = isChoice(schema) ? this.nearestError(schema, value, path) : undefined;
    if (nearest) return nearest;
    const error = this.of(schema).Errors(value).First();
    if (error && error.schema !== schema && isChoice(error.schema)) {
      return this.firstError(error.schema, error.value, path + error.path);
    }
    return error && { ...error, path: path + error.path };
  }

  /** Returns the first part that is wrong, if its container has the right size and all required parts. */
  private wrongPart(schema: TSchema, value: unknown): Part | undefined {
    const { type, items, minItems = 0, maxItems = Infinity, properties = {}, required = [] } = schema;
    if (type === "array" && Array.isArray(value)) {
      if (Array.isArray(items) || value.length < minItems || value.length > maxItems) return undefined;
      const check = this.of(items);
      const index = value.findIndex((item) => !check.Check(item));
      return index < 0 ? undefined : { name: index, schema: items, value: value[index] };
    }
    if (type !== "object" || !isObject(value) || !required.every((name: string) => name in value)) return undefined;
    for (const [name, part] of Object.entries<TSchema>(properties)) {
      const inner = value[name];
      if (inner !== undefined && !this.of(part).Check(inner)) return { name, schema: part, value: inner };
    }
    return undefined;
  }

  private nearestError(union: TSchema, value: unknown, path: string): ValueError | undefined {
    const variants: TSchema[] = union["anyOf"].filter((variant: TSchema) => fits(variant, value));
    const [first, ...others] = variants.flatMap((variant) => this.firstError(variant, value, path) ?? []);
    return first && others.reduce((best, other) => (nearness(other) > nearness(best) ? other : best), first);
  }
}

/** Returns whether this is a union of more than literals. */
const isChoice = (schema: TSchema): boolean => "anyOf" in schema && !alternatives(schema).every(isLiteral);

/**
 * A wrong size is nearer than a wrong type, most of all that of a list whose items have the type; of two wrong types,
 * the deeper one is nearer.
 */
const nearness = ({ path, schema, value }: ValueError): number =>
  !fits(schema, value) ? path.split("/").length : hasItemsOf(schema, value) ? Infinity : Number.MAX_VALUE;

const hasItemsOf = ({ items }: TSchema, value: unknown): boolean =>
  Array.isArray(value) && items !== undefined && fits(items, value[0]);

const fits = (schema: TSchema, value: unknown): boolean => alternatives(schema).some((one) => hasType(one, value));

function violation({ type, path, schema, value }: ValueError, at: string): SvcError {
  const inside = path.slice(1).split("/").map(shownPart).join(".");
  const param = [at, inside].filter((part) => part !== "").join(".");
  // For optional fields, null means "not set"; a null item of a list is present, and wrong.
  const isUnset = value === undefined || (value === null && !/(^|\/\d+)$/.test(path));
  if (type === ValueErrorType.ObjectRequiredProperty || isUnset) {
    return missing(param, describe(schema));
  }
  const code = fits(schema, value) ? "invalid_value" : "invalid_type";
  const name = param === "" ? "The request body" : `'${param}'`;
  const message = `${name} must be ${describe(schema)}; got ${received(value)}.`;
  return new SvcError(code, message, param === "" ? {} : { param });
}

/** Returns a part of a path for messages; an empty path is the body itself. */
const shownPart = (part: string): string => (part === "" ? "" : shownName(part));

const isLiteral = (schema: TSchema): boolean => "const" in schema;

/** Returns the members of nested unions without null, which only means "absent". */
export function alternatives(schema: TSchema): TSchema[] {
  const variants: TSchema[] = schema["anyOf"] ?? [schema];
  return variants.flatMap((one) => (one["anyOf"] ? alternatives(one) : one["type"] === "null" ? [] : [one]));
}

function hasType(schema: TSchema, value: unknown): boolean {
  if (schema["type"] === "integer") return Number.isInteger(value);
  if (schema["type"] === "array") return Array.isArray(value);
  if (schema["type"] === "object") return isObject(value);
  return schema["type"] === typeof value;
}

function describe(schema: TSchema): string {
  const options = alternatives(schema);
  if (options.length > 1 && options.every(isLiteral)) return `one of ${options.map((one) => one["const"]).join(", ")}`;
  return [...new Set(options.map(describeOne))].join(" or ");
}

function describeOne(schema: TSchema): string {
  if (isLiteral(schema)) return `"${schema["const"]}"`;
  switch (schema["type"]) {
    case "integer":
      return `an integer${range(schema["minimum"], schema["maximum"], "")}`;
    case "number":
      return `a number${numberRange(schema)}`;
    case "string":
      // A pattern is explained by its examples.
      if (schema["examples"]) return `text such as ${schema["examples"].join(", ")}`;
      return `a string${range(schema["minLength"], schema["maxLength"], " of", "characters")}`;
    case "array":
      return `an array${range(schema["minItems"], schema["maxItems"], " of", itemsOf(schema))}`;
    case "boolean":
      return "a boolean";
    default:
      return `an object${range(schema["minProperties"], schema["maxProperties"], " of", "members")}`;
  }
}

/** Returns a word for the items of an array, if their type is a single one. */
function itemsOf({ items }: TSchema): string {
  const { type } = (items ?? {}) as TSchema;
  return ["string", "number", "integer", "boolean", "array"].includes(type) ? `${type}s` : "items";
}

function range(least: number | undefined, most: number | undefined, prefix: string, unit = ""): string {
  const suffix = unit && ` ${(most ?? least) === 1 ? unit.slice(0, -1) : unit}`;
  if (least !== undefined && most !== undefined) return `${prefix || " from"} ${least} to ${most}${suffix}`;
  if (least !== undefined) return `${prefix} at least ${least}${suffix}`;
  return most === undefined ? "" : `${prefix} at most ${most}${suffix}`;
}

function numberRange({ exclusiveMinimum: above, minimum, maximum }: TSchema): string {
  if (above === undefined) return range(minimum, maximum, "");
  return ` above ${above}${maximum === undefined ? "" : ` and at most ${maximum}`}`;
}

/** Describes a value by type and size; its text stays out of messages. */
export function received(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of length ${value.length}`;
  if (typeof value === "string") return `a string of length ${value.length}`;
  if (typeof value === "number") return String(value);
  return typeof value === "boolean" ? "a boolean" : `an object of length ${Object.keys(value as object).length}`;
}
