// Collects the choices of a subschema: each requires one of several other subschemas.

import type { Choice, Option } from "./case-state.ts";
import type { NodeMaker } from "./node-maker.ts";
import { under, type Condition, type Dependency, type SchemaNode } from "./schema-node.ts";

/** Returns whether a node has keywords that a cover ignores. */
export const hasConditions = (node: SchemaNode): boolean =>
  [node.not, node.condition, node.dependencies, node.unevaluatedItems, node.unevaluatedProperties].some(
    (part) => part !== undefined,
  ) || (node.oneOf?.length ?? 0) > 1;

/** Returns the choices of a node. With `cover`, only those that leave out no valid value. */
export function choicesOf(node: SchemaNode, cover: boolean, maker: NodeMaker): Choice[] {
  const { at, anyOf, oneOf, condition, dependencies = [] } = node;
  const choices: Choice[] = [];
  const add = (keyword: string, options: readonly Option[], isExclusive = false) =>
    choices.push({ at: under(at, keyword), from: node, options, isExclusive });
  if (anyOf) add("anyOf", anyOf.map(plain));
  if (oneOf) add("oneOf", oneOf.map(plain), !cover);
  if (cover) return choices;
  if (condition) add("if", branches(node, condition));
  for (const dependency of dependencies) add("dependentSchemas", absentOrFollowed(node, dependency, maker));
  return choices;
}

const plain = (node: SchemaNode): Option => ({ nodes: [node] });

const branches = ({ at }: SchemaNode, condition: Condition): Option[] => [
  { nodes: [condition.if, ...(condition.whenTrue ? [condition.whenTrue] : [])] },
  {
    nodes: condition.whenFalse ? [condition.whenFalse] : [],
    forbidden: [{ node: condition.if, at: under(at, "if"), mayAdd: true }],
  },
];

/** Returns the options for a dependency, which concerns only objects that have the property. */
function absentOrFollowed(
  { id, at }: SchemaNode,
  { property, required, node }: Dependency,
  maker: NodeMaker,
): Option[] {
  const absent = maker.cached(`${id}\0absent\0${property}`, at, () => ({
    object: { properties: new Map([[property, maker.make(at, { never: true })]]) },
  }));
  const present = maker.cached(`${id}\0present\0${property}\0${required.join("\0")}`, at, () => ({
    object: { required: [property, ...required] },
  }));
  return [{ nodes: [absent] }, { nodes: [present, ...(node ? [node] : [])] }];
}
