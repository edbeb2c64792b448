// Plans the numbers of a case for the converter.

import type { JsonObject } from "../domain/json.ts";
import type { Spend } from "./budget.ts";
import { KIND, type Kinds } from "./kinds.ts";
import { MAX_ENUMERATED } from "./limits.ts";
import { isMultiple, kindOf, valuesSchema } from "./json-value.ts";
import { numberRange, type NumberRange, type PlacedBound } from "./merge.ts";
import { under, type SchemaNode } from "./schema-node.ts";

export interface NumberPlan {
  readonly schema: JsonObject;
  readonly lost: readonly string[];
}

interface Step {
  readonly value: number;
  readonly at: string;
}

/**
 * Returns the plan for numbers within all bounds, which must not exclude each other; undefined when none is whole or a
 * multiple, as required. Whole numbers are enforced exactly, except multiples without both bounds; of other numbers only
 * the type is enforced.
 */
export function numberPlan(nodes: readonly SchemaNode[], kinds: Kinds, spend: Spend): NumberPlan | undefined {
  const range = numberRange(nodes);
  const steps = nodes.flatMap(({ number, at }): Step[] =>
    number?.multipleOf === undefined ? [] : [{ value: number.multipleOf, at: under(at, "multipleOf") }],
  );
  const isWhole = (kinds & KIND.fraction) === 0 || steps.some(({ value }) => Number.isInteger(value));
  if (isWhole) return (kinds & KIND.integer) === 0 ? undefined : wholeNumbers(range, steps, spend);
  const { min, max } = range;
  if (
    min &&
    min.value === max?.value &&
    kinds & kindOf(min.value) &&
    steps.every(({ value }) => isMultiple(min.value, value))
  ) {
    return { schema: { const: min.value }, lost: [] };
  }
  // JSON Schema has no type name for numbers that are not whole, so whole numbers are allowed, too.
  const odd = (kinds & KIND.integer) === 0 ? nodes.filter((node) => node.kinds !== undefined).map(({ at }) => at) : [];
  return { schema: { type: "number" }, lost: [...boundPaths(min, max), ...steps.map(({ at }) => at), ...odd] };
}

function wholeNumbers({ min, max }: NumberRange, all: readonly Step[], spend: Spend): NumberPlan | undefined {
  const low = min ? (min.exclusive ? Math.floor(min.value) + 1 : Math.ceil(min.value)) : -Infinity;
  const high = max ? (max.exclusive ? Math.ceil(max.value) - 1 : Math.floor(max.value)) : Infinity;
  if (low > high) return undefined;
  // Every whole number is a multiple of 1, 0.5 or 0.1, so such steps constrain nothing.
  const steps = all.filter(({ value }) => !isMultiple(1, value));
  const listed = steps.length > 0 ? multiples(low, high, steps, spend) : undefined;
  if (listed) return listed.length > 0 ? { schema: valuesSchema(listed), lost: [] } : undefined;
  const lost = steps.map(({ at }) => at);
  const isFar = low > Number.MAX_SAFE_INTEGER || high < Number.MIN_SAFE_INTEGER;
  if ((!min && !max) || isFar) return { schema: { type: "integer" }, lost: [...lost, ...boundPaths(min, max)] };
  // Always both bounds: with only one, the converter accepts numbers with missing or leading digits.
  const minimum = Math.max(low, Number.MIN_SAFE_INTEGER);
  return { schema: { type: "integer", minimum, maximum: Math.min(high, Number.MAX_SAFE_INTEGER) }, lost };
}

/** Returns the multiples of all steps in a range; undefined when there are too many to write out. */
function multiples(low: number, high: number, steps: readonly Step[], spend: Spend): readonly number[] | undefined {
  const widest = Math.max(1, ...steps.map(({ value }) => value).filter(Number.isInteger));
  const first = Math.ceil(low / widest);
  const count = Math.floor(high / widest) - first + 1;
  if (!(count <= MAX_ENUMERATED) || !Number.isSafeInteger(first * widest) || !Number.isSafeInteger(high))
    return undefined;
  spend((Math.max(0, count) * steps.length) / 4);
  const candidates = Array.from({ length: Math.max(0, count) }, (_, index) => (first + index) * widest);
  return candidates
    .filter((number) => steps.every(({ value }) => isMultiple(number, value)))
    .map((number) => number + 0);
}

const boundPaths = (...bounds: readonly (PlacedBound | undefined)[]): string[] =>
  bounds.flatMap((bound) => (bound ? [under(bound.at, bound.keyword)] : []));
