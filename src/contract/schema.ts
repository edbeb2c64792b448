// The only file that imports TypeBox: the schema builder, optional fields, and checks that explain themselves.

import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { TypeCompiler, type TypeCheck } from "@sinclair/typebox/compiler";
import { ValueErrorType, type ValueError } from "@sinclair/typebox/errors";
import { missing, shownName, SvcError } from "../domain/errors.ts";

export { Type as t };
export type { Static, TSchema };

/** A field that may be absent or null; many clients send null for "not set". */
export const opt = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));

/** A value that may be null, and is always there. */
export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const JsonObject = Type.Record(Type.String(), Type.Unknown());

/** One of a closed set of strings. */
export const oneOf = <const V extends string>(...values: V[]) =>
  Type.Unsafe<V>(Type.Union(values.map((value) => Type.Literal(value))));

/**
 * A check of a JSON request body against `schema`, compiled on first use. It returns the value unchanged (unknown
 * fields stay) or throws SvcError `missing_required_parameter`, `invalid_type` or `invalid_value` about the first
 * violation. The message names the field, what it must be, and the type or size received, never its text.
 */
export function checker<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  let compiled: TypeCheck<S> | undefined;
  return (value) => {
    compiled ??= TypeCompiler.Compile(schema);
    if (compiled.Check(value)) return value;
    const first = compiled.Errors(value).First();
    if (!first) throw new SvcError("invalid_value", "The request body is not valid.");
    throw violation(innermost(first));
  };
}

/** A union's own error says nothing: follow the alternative that the value comes nearest to, the first of several. */
function innermost(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union || alternatives(error.schema).every(isLiteral)) return error;
  const variants: TSchema[] = error.schema.anyOf;
  const inner = variants.flatMap((variant, index) => {
    const first = fits(variant, error.value) ? error.errors[index]?.First() : undefined;
    return first ? [innermost(first)] : [];
  });
  return inner.reduce((best, other) => (nearness(other) > nearness(best) ? other : best), inner[0] ?? error);
}

/** A wrong size is nearer than a wrong type; of two wrong types, the one that lies deeper. */
const nearness = ({ path, schema, value }: ValueError): number =>
  fits(schema, value) ? Infinity : path.split("/").length;

const fits = (schema: TSchema, value: unknown): boolean => alternatives(schema).some((one) => hasType(one, value));

function violation({ type, path, schema, value }: ValueError): SvcError {
  const param = path.slice(1).split("/").map(shownPart).join(".");
  // As for optional fields, null means that it is not set; an item of a list is there, and wrong.
  const isUnset = value === undefined || (value === null && !/(^|\/\d+)$/.test(path));
  if (type === ValueErrorType.ObjectRequiredProperty || isUnset) {
    return missing(param, describe(schema));
  }
  const code = fits(schema, value) ? "invalid_value" : "invalid_type";
  const name = param === "" ? "The request body" : `'${param}'`;
  const message = `${name} must be ${describe(schema)}; got ${received(value)}.`;
  return new SvcError(code, message, param === "" ? {} : { param });
}

/** An empty path is the body itself. */
const shownPart = (part: string): string => (part === "" ? "" : shownName(part));

const isLiteral = (schema: TSchema): boolean => "const" in schema;

/** The members of nested unions, null (which only means "absent") left out. */
export function alternatives(schema: TSchema): TSchema[] {
  const variants: TSchema[] = schema["anyOf"] ?? [schema];
  return variants.flatMap((one) => (one["anyOf"] ? alternatives(one) : one["type"] === "null" ? [] : [one]));
}

function hasType(schema: TSchema, value: unknown): boolean {
  if (schema["type"] === "integer") return Number.isInteger(value);
  if (schema["type"] === "array") return Array.isArray(value);
  if (schema["type"] === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
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
      // What a pattern means is shown rather than told.
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

/** What the items of an array are, where that is one word. */
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

/** A value by type and size; its text stays out of messages. */
export function received(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of length ${value.length}`;
  if (typeof value === "string") return `a string of length ${value.length}`;
  if (typeof value === "number") return String(value);
  return typeof value === "boolean" ? "a boolean" : `an object of length ${Object.keys(value as object).length}`;
}
