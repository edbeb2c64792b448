// The form of a subschema after its keywords were checked.

import type { ValueList } from "./json-value.ts";
import type { Kinds } from "./kinds.ts";
import { MAX_NAME_LENGTH } from "./limits.ts";

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
  /** `prefixItems`, or a list of `items` in older drafts. */
  readonly prefix?: readonly SchemaNode[];
  /** What items after the prefix must satisfy. */
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

/** `if` with `then` and `else`. */
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

/** What one subschema requires; keyword groups are absent when the subschema does not use them. */
export interface SchemaFields {
  /** Set when no value is valid. */
  readonly never?: true;
  /** Set when more is required than the other fields say: a keyword cannot be used. */
  unknown?: true;
  readonly kinds?: Kinds;
  /** Lists from `enum` and `const`; a value must be in all of them. */
  readonly values?: readonly ValueList[];
  /** Values that are not valid. */
  readonly excluded?: ValueList;
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
  /** Texts for people and models (`title`, `description`, `default`), kept unchanged. */
  readonly notes?: Readonly<Record<string, unknown>>;
}

export interface SchemaNode extends SchemaFields {
  /** Unique in its schema. */
  readonly id: number;
  /** JSON pointer into the client's schema. */
  readonly at: string;
  /** The node that `$ref` leads to; set once every subschema is known. */
  target?: SchemaNode;
}

/** Returns whether a node itself, apart from the nodes that it leads to, excludes any value. */
export const saysSomething = (node: SchemaNode): boolean =>
  node.never === true ||
  node.kinds !== undefined ||
  node.values !== undefined ||
  node.excluded !== undefined ||
  node.number !== undefined ||
  node.string !== undefined ||
  node.array !== undefined ||
  node.object !== undefined;

/** Returns the nodes that a node applies to the same value. */
export function inPlace(node: SchemaNode): SchemaNode[] {
  const { condition, dependencies = [] } = node;
  const single = [node.target, node.not, condition?.if, condition?.whenTrue, condition?.whenFalse];
  const lists = [...(node.allOf ?? []), ...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  return [...single, ...lists, ...dependencies.map((dependency) => dependency.node)].filter(
    (other) => other !== undefined,
  );
}

/** Returns a JSON pointer with one more token. Very long names are cut off: every path below would repeat them. */
export const under = (at: string, token: string | number): string =>
  `${at}/${String(token).slice(0, MAX_NAME_LENGTH).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Returns whether a node leads to no others that apply to the same value. */
export const isPlain = (node: SchemaNode): boolean =>
  node.unknown === undefined &&
  node.target === undefined &&
  node.allOf === undefined &&
  node.anyOf === undefined &&
  node.oneOf === undefined &&
  node.not === undefined &&
  node.condition === undefined &&
  node.dependencies === undefined &&
  node.unevaluatedItems === undefined &&
  node.unevaluatedProperties === undefined;

/** Returns whether every value satisfies a node. */
export const isEmpty = (node: SchemaNode): boolean => isPlain(node) && !saysSomething(node);
