// Reading what other servers send: nothing in it is certain.

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

/** An object's fields; none of what is no object. */
export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : NONE;

/** The objects of an array; none of what is no array. */
export const objects = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : []);

/** A text, or undefined for anything else and for an empty one. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** A finite number, or undefined. */
export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** A count: a number that is at least 0 and one that can be counted on from, rounded; 0 where there is none. */
export const count = (value: unknown): number =>
  Math.min(Math.max(0, Math.round(number(value) ?? 0)), Number.MAX_SAFE_INTEGER);

/** JSON, or undefined where the text is none. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
