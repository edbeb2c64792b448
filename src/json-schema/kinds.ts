// Sets of JSON types as bits. Numbers have two bits, so that "not an integer" can be expressed.

export const KIND = {
  null: 1,
  boolean: 2,
  integer: 4,
  fraction: 8,
  string: 16,
  array: 32,
  object: 64,
} as const;

/** A set of `KIND`s. */
export type Kinds = number;

export const NUMBER: Kinds = KIND.integer | KIND.fraction;
export const EVERY_KIND: Kinds = 127;

/** What the type names in a schema's `type` stand for. */
export const TYPE_KINDS: ReadonlyMap<string, Kinds> = new Map([
  ["null", KIND.null],
  ["boolean", KIND.boolean],
  ["integer", KIND.integer],
  ["number", NUMBER],
  ["string", KIND.string],
  ["array", KIND.array],
  ["object", KIND.object],
]);
