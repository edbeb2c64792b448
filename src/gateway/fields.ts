// Reads data from other servers without trusting its types.

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** Returns the fields of an object; empty for any other value. */
export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;

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

/** Parses JSON; returns undefined if the text is invalid. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
