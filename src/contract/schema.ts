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
  let compiled: TypeCheck<S> | undefined;
  return (value, at) => {
    compiled ??= TypeCompiler.Compile(schema);
    if (compiled.Check(value)) return value;
    const error = errorInLongList(compiled, schema, value) ?? firstError(compiled, value);
    if (!error) throw new SvcError("invalid_value", "The request body is not valid.");
    throw violation(error, at);
  };
}

function firstError(compiled: TypeCheck<TSchema>, value: unknown): ValueError | undefined {
  const first = compiled.Errors(value).First();
  return first && innermost(first);
}

/** Items from which on a list is searched for its first wrong item. */
const LONG_LIST = 1000;

/**
 * Returns the error of the first wrong item of a long list, if there is one. Collecting errors takes 50 times as long as
 * checks, so checks of halves of the list find the item.
 */
function errorInLongList(compiled: TypeCheck<TSchema>, schema: TSchema, value: unknown): ValueError | undefined {
  if (!isObject(value)) return undefined;
  for (const [name, { type }] of Object.entries<TSchema>(schema["properties"] ?? {})) {
    const list = value[name];
    if (type !== "array" || !Array.isArray(list) || list.length < LONG_LIST) continue;
    const part = (from: number, to: number) => ({ ...value, [name]: list.slice(from, to) });
    let [from, to] = [0, list.length];
    while (to - from > 1) {
      const middle = (from + to) >> 1;
      if (compiled.Check(part(from, middle))) from = middle;
      else to = middle;
    }
    const error = firstError(compiled, part(from, to));
    const path = `/${name}/0`;
    if (error?.path.startsWith(path)) return { ...error, path: `/${name}/${from}${error.path.slice(path.length)}` };
  }
  return undefined;
}

/** Returns the error of the alternative nearest to the value, the first of several: the union's own has no reason. */
function innermost(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union || alternatives(error.schema).every(isLiteral)) return error;
  const variants: TSchema[] = error.schema.anyOf;
  const inner = variants.flatMap((variant, index) => {
    const first = fits(variant, error.value) ? error.errors[index]?.First() : undefined;
    return first ? [innermost(first)] : [];
  });
  return inner.reduce((best, other) => (nearness(other) > nearness(best) ? other : best), inner[0] ?? error);
}

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
