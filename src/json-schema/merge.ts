// Combines what several subschemas say about the same value, one aspect at a time.

import type { Spend } from "./budget.ts";
import { EVERY_KIND, KIND, NUMBER, type Kinds } from "./kinds.ts";
import type { RegexCache } from "./regex-cache.ts";
import type { Bound, SchemaNode } from "./schema-node.ts";

type Nodes = readonly SchemaNode[];

/** A bound with the path of its subschema. */
export type PlacedBound = Bound & { readonly at: string };

export const kindsOf = (nodes: Nodes): Kinds =>
  nodes.reduce((kinds, node) => kinds & (node.kinds ?? EVERY_KIND), EVERY_KIND);

/**
 * Returns the kinds that the keywords of untyped nodes concern. Values of other kinds would be valid too, but a schema
 * with `properties` is meant for an object.
 */
export function impliedKinds(nodes: Nodes): Kinds {
  const kinds = nodes.reduce<Kinds>((all, { number, string, array, object }) => {
    const own =
      (number ? NUMBER : 0) | (string ? KIND.string : 0) | (array ? KIND.array : 0) | (object ? KIND.object : 0);
    return all | own;
  }, 0);
  return kinds === 0 || nodes.some((node) => node.kinds !== undefined || node.values) ? EVERY_KIND : kinds;
}

/** Returns the values that every `enum` and `const` allows, or undefined when there is no such keyword. */
export function listedValues(nodes: Nodes, spend: Spend): readonly unknown[] | undefined {
  const [first, ...others] = new Set(nodes.flatMap((node) => node.values ?? []));
  if (!first) return undefined;
  spend((first.byKey.size * (1 + others.length * 4)) / 64);
  if (others.length === 0) return first.distinct;
  return [...first.byKey].filter(([key]) => others.every(({ byKey }) => byKey.has(key))).map(([, value]) => value);
}

export interface NumberRange {
  readonly min?: PlacedBound;
  readonly max?: PlacedBound;
}

/** Returns the tightest bounds. */
export function numberRange(nodes: Nodes): NumberRange {
  let min: PlacedBound | undefined;
  let max: PlacedBound | undefined;
  for (const { number, at } of nodes) {
    const [low, high] = [number?.min, number?.max];
    if (low && (!min || low.value > min.value || (low.value === min.value && low.exclusive))) min = { ...low, at };
    if (high && (!max || high.value < max.value || (high.value === max.value && high.exclusive))) max = { ...high, at };
  }
  return { ...(min && { min }), ...(max && { max }) };
}

const isEmptyRange = ({ min, max }: NumberRange): boolean =>
  min !== undefined &&
  max !== undefined &&
  (min.value > max.value || (min.value === max.value && (min.exclusive || max.exclusive)));

/** Returns the kinds for which the bounds leave no value. */
export function emptyKinds(nodes: Nodes): Kinds {
  const isEmpty = ([min, max]: readonly [number, number]) => min > max;
  return (
    (isEmptyRange(numberRange(nodes)) ? NUMBER : 0) |
    (isEmpty(lengthRange(nodes)) ? KIND.string : 0) |
    (isEmpty(itemRange(nodes)) ? KIND.array : 0) |
    (isEmpty(sizeRange(nodes)) ? KIND.object : 0)
  );
}

type Limits = readonly [low: number | undefined, high: number | undefined];

/** Returns the largest minimum and the smallest maximum. */
function countRange(nodes: Nodes, limits: (node: SchemaNode) => Limits | undefined): readonly [number, number] {
  let [min, max] = [0, Infinity];
  for (const node of nodes) {
    const [low = 0, high = Infinity] = limits(node) ?? [];
    min = Math.max(min, low);
    max = Math.min(max, high);
  }
  return [min, max];
}

export const lengthRange = (nodes: Nodes) =>
  countRange(nodes, ({ string }) => string && [string.minLength, string.maxLength]);
export const itemRange = (nodes: Nodes) => countRange(nodes, ({ array }) => array && [array.minItems, array.maxItems]);
export const sizeRange = (nodes: Nodes) =>
  countRange(nodes, ({ object }) => object && [object.minProperties, object.maxProperties]);

/** Returns the length of the longest array prefix. */
export const prefixLength = (nodes: Nodes): number =>
  Math.max(0, ...nodes.map(({ array }) => array?.prefix?.length ?? 0));

/** Returns the nodes for one item of an array. */
export const itemNodes = (nodes: Nodes, index: number): SchemaNode[] =>
  nodes.flatMap(({ array }) => array?.prefix?.[index] ?? array?.items ?? []);

/** Returns the property names that the nodes mention, in the order of the schema. */
export const memberNames = (nodes: Nodes): Set<string> =>
  new Set(nodes.flatMap(({ object }) => [...(object?.properties?.keys() ?? []), ...(object?.required ?? [])]));

export const requiredNames = (nodes: Nodes): Set<string> =>
  new Set(nodes.flatMap(({ object }) => object?.required ?? []));

interface Member {
  /** Nodes that certainly apply. */
  readonly nodes: readonly SchemaNode[];
  /** Paths of `patternProperties` for which it is unknown whether they apply. */
  readonly unknown: readonly string[];
}

/** Returns the nodes for the property of this name. */
export function member(nodes: Nodes, name: string, regexes: RegexCache): Member {
  const found: SchemaNode[] = [];
  const unknown: string[] = [];
  for (const { object, at } of nodes) {
    if (!object) continue;
    const property = object.properties?.get(name);
    if (object.patterns && regexes.isSpent) {
      if (property) found.push(property);
      unknown.push(`${at}/patternProperties`);
      continue;
    }
    if (!object.patterns) {
      const applied = property ?? object.additional;
      if (applied) found.push(applied);
      continue;
    }
    const matches = object.patterns.map(([source, node]) => ({ node, matches: regexes.finds(source, name) }));
    if (property) found.push(property);
    found.push(...matches.filter((entry) => entry.matches).map(({ node }) => node));
    const isOther = !property && matches.every((entry) => entry.matches === false);
    if (isOther && object.additional) found.push(object.additional);
    if (matches.some((entry) => entry.matches === undefined)) unknown.push(`${at}/patternProperties`);
  }
  return { nodes: found, unknown };
}

/** Returns whether the nodes from `start` on leave no value for some required property. */
export function isContradiction(nodes: Nodes, start: number, regexes: RegexCache, spend: Spend): boolean {
  const names = memberNames(nodes.slice(start));
  if (names.size === 0) return false;
  const required = requiredNames(nodes);
  spend((names.size + required.size) / 16);
  return [...names].some((name) => {
    if (!required.has(name)) return false;
    spend((1 + nodes.length / 16) / 4);
    const found = member(nodes, name, regexes).nodes;
    return found.some(({ never }) => never) || kindsOf(found) === 0 || listedValues(found, spend)?.length === 0;
  });
}
