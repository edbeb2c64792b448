// Builds the opposite of a subschema as a subschema.

import { EVERY_KIND, KIND, NUMBER } from "./kinds.ts";
import { MAX_SYNTHETIC } from "./limits.ts";
import type { NodeMaker } from "./node-maker.ts";
import type { ArrayFacts, Bound, ObjectFacts, SchemaFields, SchemaNode } from "./schema-node.ts";

interface Negation {
  /** A subschema whose values are all refused by the original. */
  readonly node: SchemaNode;
  /** Whether `node` also refuses some values that the original refuses. */
  readonly narrower: boolean;
}

/** The ways to violate a subschema that can be expressed. */
interface Ways {
  readonly options: SchemaNode[];
  narrower: boolean;
}

const MAX_NEGATIONS_INSIDE = 16;

/** Negates nodes, and remembers the result for each. */
export class Negator {
  private readonly known = new Map<SchemaNode, Negation | undefined>();
  private made = 0;
  private depth = 0;

  constructor(private readonly nodes: NodeMaker) {}

  /** Returns undefined when no way to violate the node can be expressed. */
  negate(node: SchemaNode): Negation | undefined {
    if (!this.known.has(node)) {
      if (this.made > MAX_SYNTHETIC || this.depth >= MAX_NEGATIONS_INSIDE) return undefined;
      this.depth++;
      this.known.set(node, this.opposite(node));
      this.depth--;
    }
    return this.known.get(node);
  }

  private make(at: string, fields: SchemaFields): SchemaNode {
    this.made++;
    return this.nodes.make(at, fields);
  }

  private opposite(node: SchemaNode): Negation | undefined {
    if (node.never) return { node: this.make(node.at, {}), narrower: false };
    const ways: Ways = { options: [], narrower: node.unknown === true };
    this.plain(node, ways);
    if (node.array) this.arrays(node, node.array, ways);
    if (node.object) this.objects(node, node.object, ways);
    this.applied(node, ways);
    const [only, ...others] = ways.options;
    if (!only) return ways.narrower ? undefined : { node: this.make(node.at, { never: true }), narrower: false };
    return {
      node: others.length === 0 ? only : this.make(node.at, { anyOf: ways.options }),
      narrower: ways.narrower,
    };
  }

  private plain({ at, kinds, values, excluded, number, string }: SchemaNode, ways: Ways): void {
    const add = (fields: SchemaFields) => ways.options.push(this.make(at, fields));
    if (kinds !== undefined && kinds !== EVERY_KIND) add({ kinds: EVERY_KIND & ~kinds });
    for (const list of values ?? []) add({ excluded: list });
    if (excluded) add({ values: [excluded] });
    if (number?.min) add({ kinds: NUMBER, number: { max: flipped(number.min) } });
    if (number?.max) add({ kinds: NUMBER, number: { min: flipped(number.max) } });
    const { minLength = 0, maxLength } = string ?? {};
    if (minLength > 0) add({ kinds: KIND.string, string: { maxLength: minLength - 1 } });
    if (maxLength !== undefined) add({ kinds: KIND.string, string: { minLength: maxLength + 1 } });
    if (number?.multipleOf !== undefined || string?.pattern !== undefined || string?.format !== undefined) {
      ways.narrower = true;
    }
  }

  private arrays({ at }: SchemaNode, facts: ArrayFacts, ways: Ways): void {
    const add = (array: ArrayFacts) => ways.options.push(this.make(at, { kinds: KIND.array, array }));
    const { prefix = [], items, minItems = 0, maxItems, contains } = facts;
    if (minItems > 0) add({ maxItems: minItems - 1 });
    if (maxItems !== undefined) add({ minItems: maxItems + 1 });
    const any = this.make(at, {});
    for (const [index, node] of prefix.entries()) {
      const other = this.use(node, ways);
      this.nodes.spend(index / 16);
      if (other) add({ minItems: index + 1, prefix: [...prefix.slice(0, index).map(() => any), other] });
    }
    if (items?.never) add({ minItems: prefix.length + 1 });
    else if (items) ways.narrower = true;
    if (contains && (facts.minContains ?? 1) === 1) {
      const other = this.use(contains, ways);
      if (other) add({ items: other });
    } else if (contains) ways.narrower = true;
    if (facts.uniqueItems || facts.maxContains !== undefined) ways.narrower = true;
  }

  private objects({ at }: SchemaNode, facts: ObjectFacts, ways: Ways): void {
    const add = (object: ObjectFacts) => ways.options.push(this.make(at, { kinds: KIND.object, object }));
    const { properties, required = [], minProperties = 0, maxProperties } = facts;
    for (const name of required) add({ properties: new Map([[name, this.make(at, { never: true })]]) });
    for (const [name, node] of properties ?? []) {
      const other = this.use(node, ways);
      if (other && !other.never) add({ properties: new Map([[name, other]]), required: [name] });
    }
    if (minProperties > 0) add({ maxProperties: minProperties - 1 });
    if (maxProperties !== undefined) add({ minProperties: maxProperties + 1 });
    if (facts.patterns || facts.additional || facts.names) ways.narrower = true;
  }

  private applied(node: SchemaNode, ways: Ways): void {
    const { at, target, allOf = [], anyOf, oneOf, not, condition } = node;
    for (const other of [...(target ? [target] : []), ...allOf]) {
      const opposite = this.use(other, ways);
      if (opposite) ways.options.push(opposite);
    }
    for (const list of [anyOf, oneOf]) {
      const opposites = list?.map((other) => this.use(other, ways));
      if (opposites?.every((other) => other !== undefined)) ways.options.push(this.make(at, { allOf: opposites }));
    }
    if (oneOf && oneOf.length > 1) ways.narrower = true;
    if (not) ways.options.push(not);
    if (condition) {
      const { if: holds, whenTrue, whenFalse } = condition;
      const opposites = [
        [holds, whenTrue && this.use(whenTrue, ways)],
        [this.use(holds, ways), whenFalse && this.use(whenFalse, ways)],
      ];
      for (const [a, b] of opposites) if (a && b) ways.options.push(this.make(at, { allOf: [a, b] }));
    }
    if (node.dependencies || node.unevaluatedItems || node.unevaluatedProperties) ways.narrower = true;
  }

  /** Returns the opposite of a part. The whole is narrower when there is none or when that opposite is narrower. */
  private use(node: SchemaNode, ways: Ways): SchemaNode | undefined {
    const negation = this.negate(node);
    if (!negation || negation.narrower) ways.narrower = true;
    return negation?.node;
  }
}

const flipped = ({ value, exclusive, keyword }: Bound): Bound => ({ value, exclusive: !exclusive, keyword });
