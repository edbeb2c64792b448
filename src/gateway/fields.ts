// Reads data from other servers without trusting its types.

import { isObject, type JsonObject } from "../domain/json.ts";

export type Fields = Readonly<JsonObject>;

const NONE: Fields = {};

/** Returns the fields of an object; empty for any other value. */
export const fields = (value: unknown): Fields => (isObject(value) ? value : NONE);

/** Returns the elements of an array as objects; empty for any other value. */
export const objects = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : []);

/** Returns a non-empty text; undefined for any other value. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Returns a finite number; undefined for any other value. */
export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** Returns a number rounded and limited to the range from 0 to the largest safe integer; 0 for any other value. */
export const count = (value: unknown): number =>
  Math.min(Math.max(0, Math.round(number(value) ?? 0)), Number.MAX_SAFE_INTEGER);
