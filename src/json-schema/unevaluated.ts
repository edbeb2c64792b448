// Rewrites `unevaluatedProperties` and `unevaluatedItems` as `additionalProperties` and `items`, once it is known which
// other subschemas hold.

import type { Link } from "./case-state.ts";
import type { NodeMaker } from "./node-maker.ts";
import type { SchemaNode } from "./schema-node.ts";

/** Returns a node that expresses `unevaluated…` of `watcher`. What only other subschemas evaluate does not count. */
export function unevaluated(watcher: SchemaNode, links: readonly Link[], maker: NodeMaker): SchemaNode {
  const applied = reachable(watcher, links);
  maker.spend((links.length + applied.length) / 16);
  const key = `${watcher.id}\0unevaluated\0${applied.map(({ id }) => id).join()}`;
  // A keyword that cannot be used may evaluate anything.
  const isUnknown = applied.some(({ unknown }) => unknown);
  return maker.cached(key, watcher.at, () =>
    isUnknown ? {} : { ...itemsOf(watcher, applied, maker), ...propertiesOf(watcher, applied, maker) },
  );
}

/** Returns a node and everything that it applies to the same value. */
function reachable(from: SchemaNode, links: readonly Link[]): readonly SchemaNode[] {
  const ends = Map.groupBy(links, ([start]) => start);
  const found = new Set([from]);
  for (const node of found) for (const [, end] of ends.get(node) ?? []) found.add(end);
  return [...found];
}

function itemsOf(watcher: SchemaNode, applied: readonly SchemaNode[], maker: NodeMaker) {
  const { at, unevaluatedItems } = watcher;
  const isAll = applied.some((node) => node.array?.items ?? (node !== watcher && node.unevaluatedItems));
  if (!unevaluatedItems || isAll) return {};
  const length = Math.max(0, ...applied.map(({ array }) => array?.prefix?.length ?? 0));
  maker.spend(length / 16);
  const any = maker.make(at, {});
  return { array: { prefix: Array.from({ length }, () => any), items: unevaluatedItems } };
}

function propertiesOf(watcher: SchemaNode, applied: readonly SchemaNode[], maker: NodeMaker) {
  const { at, unevaluatedProperties } = watcher;
  const isAll = applied.some((node) => node.object?.additional ?? (node !== watcher && node.unevaluatedProperties));
  if (!unevaluatedProperties || isAll) return {};
  const any = maker.make(at, {});
  const names = applied.flatMap(({ object }) => [...(object?.properties?.keys() ?? [])]);
  maker.spend(names.length / 16);
  const patterns = applied.flatMap(({ object }) => object?.patterns ?? []);
  return {
    object: {
      properties: new Map(names.map((name) => [name, any])),
      ...(patterns.length > 0 && { patterns: patterns.map(([source]) => [source, any] as const) }),
      additional: unevaluatedProperties,
    },
  };
}
