// Fields that current clients may send but this server does not support. It refuses them by name, because an answer
// that silently lacks what was requested is worse than an error.

import type { TSchema } from "../../contract/schema.ts";
import { fieldError, shownName } from "../../domain/errors.ts";

/** Unsupported fields of an API, each with a test whether its value would have an effect. */
export type Unsupported = Readonly<Record<string, (value: unknown) => boolean>>;

export const always = (): boolean => true;
/** A field has an effect unless it has this value. */
export const unless =
  (harmless: unknown) =>
  (value: unknown): boolean =>
    value !== harmless;
/** Many clients send an empty text or list for "not set". */
export const notEmpty = (value: unknown): boolean => value !== "" && !(Array.isArray(value) && value.length === 0);

/** Returns these fields, separated by spaces, with one test or type for all. */
export const each = <const T>(value: T, names: string): Readonly<Record<string, T>> =>
  Object.fromEntries(names.split(" ").map((name) => [name, value]));

/** Throws SvcError `unsupported_parameter` about the first field of an object that requests an unsupported effect. */
export function refuseUnsupported(body: unknown, unsupported: Unsupported, path = ""): void {
  const fields = body as Readonly<Record<string, unknown>>;
  const field = Object.keys(unsupported).find((name) => fields[name] != null && unsupported[name]?.(fields[name]));
  if (!field) return;
  throw fieldError("unsupported_parameter", path + field, "is not supported");
}

/**
 * Throws SvcError `unsupported_parameter` about the first field that the schema lacks, at any depth; null fields are
 * ignored.
 */
export function refuseUnknown(value: unknown, schema: TSchema, path = ""): void {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) refuseUnknown(item, schema["items"] as TSchema, `${path}${at}.`);
  } else if (typeof value === "object" && value !== null && schema["properties"]) {
    for (const [name, item] of Object.entries(value)) {
      if (item === null) continue;
      const param = path + shownName(name);
      const own = Object.hasOwn(schema["properties"], name) ? (schema["properties"][name] as TSchema) : undefined;
      if (!own) throw fieldError("unsupported_parameter", param, "is not supported");
      refuseUnknown(item, withoutNull(own), `${param}.`);
    }
  }
}

/** Returns the schema of an optional field when it is present. */
const withoutNull = (schema: TSchema): TSchema =>
  (schema["anyOf"] as TSchema[] | undefined)?.find((one) => one["type"] === "object" || one["type"] === "array") ??
  schema;
