// A subschema after its keywords were checked.

import type { Kinds } from "./kinds.ts";

/** A bound of a number. */
export interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
  readonly keyword: string;
}

export interface NumberFacts {
  readonly min?: Bound;
  readonly max?: Bound;
  readonly multipleOf?: number;
}

export interface StringFacts {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface ArrayFacts {
  /** `prefixItems`, or `items` as older drafts had it. */
  readonly prefix?: readonly SchemaNode[];
  /** What follows the prefix. */
  readonly items?: SchemaNode;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: true;
  readonly contains?: SchemaNode;
  readonly minContains?: number;
  readonly maxContains?: number;
}

export interface ObjectFacts {
  readonly properties?: ReadonlyMap<string, SchemaNode>;
  /** `patternProperties`. */
  readonly patterns?: readonly (readonly [source: string, node: SchemaNode])[];
  readonly additional?: SchemaNode;
  /** `propertyNames`. */
  readonly names?: SchemaNode;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** `if` with what follows from it. */
export interface Condition {
  readonly if: SchemaNode;
  /** `then`; an object with a field of that name could be taken for a promise. */
  readonly whenTrue?: SchemaNode;
  readonly whenFalse?: SchemaNode;
}

/** `dependentRequired` and `dependentSchemas` of one property. */
export interface Dependency {
  readonly property: string;
  readonly required: readonly string[];
  readonly node?: SchemaNode;
}

/** What one subschema says, keyword groups absent where it says nothing. */
export interface SchemaFields {
  /** Nothing is valid. */
  readonly never?: true;
  readonly kinds?: Kinds;
  /** Lists (of `enum`, of `const`) that a value must be in. */
  readonly values?: readonly (readonly unknown[])[];
  /** Values it must not be. */
  readonly excluded?: readonly unknown[];
  readonly number?: NumberFacts;
  readonly string?: StringFacts;
  readonly array?: ArrayFacts;
  readonly object?: ObjectFacts;
  readonly allOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly not?: SchemaNode;
  readonly condition?: Condition;
  readonly dependencies?: readonly Dependency[];
  readonly unevaluatedItems?: SchemaNode;
  readonly unevaluatedProperties?: SchemaNode;
  /** Words for people and models, kept as they are. */
  readonly notes?: Readonly<Record<string, unknown>>;
}

export interface SchemaNode extends SchemaFields {
  /** Unique in its schema. */
  readonly id: number;
  /** JSON pointer into the client's schema. */
  readonly at: string;
  /** What `$ref` leads to; set once every subschema is known. */
  target?: SchemaNode;
}

/** Whether a node itself, apart from the nodes that it leads to, rules anything out. */
export const saysSomething = (node: SchemaNode): boolean =>
  node.never === true ||
  node.kinds !== undefined ||
  node.values !== undefined ||
  node.excluded !== undefined ||
  node.number !== undefined ||
  node.string !== undefined ||
  node.array !== undefined ||
  node.object !== undefined;

/** The nodes that a node applies to the same value. */
export function inPlace(node: SchemaNode): SchemaNode[] {
  const { condition, dependencies = [] } = node;
  const single = [node.target, node.not, condition?.if, condition?.whenTrue, condition?.whenFalse];
  const lists = [...(node.allOf ?? []), ...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  return [...single, ...lists, ...dependencies.map((dependency) => dependency.node)].filter(
    (other) => other !== undefined,
  );
}

/** A JSON pointer one token longer. */
export const under = (at: string, token: string | number): string =>
  `${at}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Whether a node leads to no others that apply to the same value. */
export const isPlain = (node: SchemaNode): boolean =>
  node.target === undefined &&
  node.allOf === undefined &&
  node.anyOf === undefined &&
  node.oneOf === undefined &&
  node.not === undefined &&
  node.condition === undefined &&
  node.dependencies === undefined &&
  node.unevaluatedItems === undefined &&
  node.unevaluatedProperties === undefined;

/** Whether every value satisfies a node. */
export const isEmpty = (node: SchemaNode): boolean => isPlain(node) && !saysSomething(node);
