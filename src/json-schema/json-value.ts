// Compares JSON values as JSON Schema does.

import { isObject, type JsonObject } from "../domain/json.ts";
import { KIND, type Kinds } from "./kinds.ts";

/** Returns the same text for equal values: property order does not count, and 1 and 1.0 are the same number. */
export function valueKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueKey).join(",")}]`;
  if (isObject(value)) {
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${JSON.stringify(name)}:${valueKey(value[name])}`).join(",")}}`;
  }
  return value === 0 ? "0" : JSON.stringify(value);
}

function firstByKey(values: readonly unknown[]): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>();
  for (const value of values) {
    const key = valueKey(value);
    if (!found.has(key)) found.set(key, value);
  }
  return found;
}

/** A list of values from a schema. Equal values are found once, however often the list is used. */
export class ValueList {
  private found: ReadonlyMap<string, unknown> | undefined;
  private list: readonly unknown[] | undefined;

  constructor(readonly values: readonly unknown[]) {}

  /** The different values by their keys, in the order of the list. */
  get byKey(): ReadonlyMap<string, unknown> {
    this.found ??= firstByKey(this.values);
    return this.found;
  }

  /** The list without its repetitions. */
  get distinct(): readonly unknown[] {
    this.list ??= [...this.byKey.values()];
    return this.list;
  }
}

/** Returns the schema for the values of a list. */
export const valuesSchema = (values: readonly unknown[]): JsonObject =>
  values.length === 1 ? { const: values[0] } : { enum: values };

export function kindOf(value: unknown): Kinds {
  if (value === null) return KIND.null;
  if (Array.isArray(value)) return KIND.array;
  if (typeof value === "number") return Number.isInteger(value) ? KIND.integer : KIND.fraction;
  if (typeof value === "string") return KIND.string;
  return typeof value === "boolean" ? KIND.boolean : KIND.object;
}

/** Returns the length of a string in code points, as JSON Schema counts it. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Returns whether `value` is a whole multiple of `step`, in decimal arithmetic. */
export function isMultiple(value: number, step: number): boolean {
  const [a, aExponent] = decimal(value);
  const [b, bExponent] = decimal(step);
  const exponent = Math.min(aExponent, bExponent);
  return (a * 10n ** BigInt(aExponent - exponent)) % (b * 10n ** BigInt(bExponent - exponent)) === 0n;
}

/** Splits a number into mantissa and power of ten. */
function decimal(value: number): [bigint, number] {
  const [digits = "0", exponent = "0"] = value.toString().split("e");
  const [whole = "0", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
