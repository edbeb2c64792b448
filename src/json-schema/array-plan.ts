// Plans the arrays of a case for the converter, which knows lists of like items and tuples of one length.

import { mostItems, usualLength } from "./alive.ts";
import type { ArrayShape, Unit, Use } from "./graph.ts";
import { KIND } from "./kinds.ts";
import { MAX_ITEMS, MAX_TUPLES } from "./limits.ts";
import { isEmpty, under, type SchemaNode } from "./schema-node.ts";

export interface ArrayPlan {
  /** The arrays have one of these forms. */
  readonly forms: readonly ArrayForm[];
  readonly lost: readonly string[];
}

export type ArrayForm =
  | { readonly kind: "list"; readonly item?: Use; readonly min: number; readonly max: number }
  | { readonly kind: "tuple"; readonly items: readonly Use[] };

/** How many tuples longer than the usual one are written out. */
const MORE_ITEMS = 8;

/** Returns the plan for the arrays of a unit that has an array shape. */
export function arrayPlan({ nodes, relaxed }: Unit, shape: ArrayShape): ArrayPlan {
  const max = mostItems(shape);
  const [min] = shape.range;
  const lost = lostOf(nodes, max);
  if (max === 0) return { forms: [{ kind: "list", min: 0, max: 0 }], lost };
  const isList = shape.prefix.every(({ part }) => part === shape.rest.part);
  if (isList) return list(nodes, shape.rest, min, max, lost);
  const lengths = tupleLengths(shape, max, (relaxed & KIND.array) !== 0);
  if (min > MAX_ITEMS) lost.push(...paths(nodes, "minItems"));
  const items = (length: number) => Array.from({ length }, (_, index) => shape.prefix[index] ?? shape.rest);
  return { forms: lengths.map((length) => ({ kind: "tuple", items: items(length) })), lost };
}

function list(nodes: readonly SchemaNode[], item: Use, min: number, max: number, lost: string[]): ArrayPlan {
  const isLong = max !== Infinity && max > MAX_ITEMS;
  if (min > MAX_ITEMS) lost.push(...paths(nodes, "minItems"));
  if (isLong) lost.push(...paths(nodes, "maxItems"));
  const form = { kind: "list", min: Math.min(min, MAX_ITEMS), max: isLong ? Infinity : max } as const;
  return { forms: [{ ...form, ...(item.part.alive && { item }) }], lost };
}

/** Returns the lengths to write out: the usual one, shorter ones where the schema allows them, and some longer ones. */
function tupleLengths(shape: ArrayShape, max: number, isRelaxed: boolean): readonly number[] {
  const [min] = shape.range;
  const usual = Math.min(usualLength(shape, max), MAX_ITEMS);
  const from = isRelaxed || min > 0 ? Math.min(usual, min) : usual;
  const to = shape.hasRest ? Math.min(max, usual + MORE_ITEMS) : usual;
  const lengths = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const nearest = lengths.sort((a, b) => Math.abs(a - usual) - Math.abs(b - usual) || b - a).slice(0, MAX_TUPLES);
  // The shortest length may be the only one that has values.
  if (isRelaxed) nearest.push(from);
  return [...new Set(nearest)].sort((a, b) => a - b);
}

/** Returns the keywords that neither form can express. */
function lostOf(nodes: readonly SchemaNode[], max: number): string[] {
  return nodes.flatMap(({ array, at }) => {
    if (!array) return [];
    const { uniqueItems, contains, minContains = 1, maxContains = Infinity } = array;
    const isMet = !contains || isEmpty(contains) || (minContains === 0 && maxContains >= max);
    return [...(uniqueItems && max > 1 ? [under(at, "uniqueItems")] : []), ...(isMet ? [] : [under(at, "contains")])];
  });
}

const paths = (nodes: readonly SchemaNode[], keyword: "minItems" | "maxItems"): string[] =>
  nodes.filter(({ array }) => array?.[keyword] !== undefined).map(({ at }) => under(at, keyword));
