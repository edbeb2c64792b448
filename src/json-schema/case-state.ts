// A case while it is being resolved.

import type { Case } from "./cases.ts";
import { EVERY_KIND, type Kinds } from "./kinds.ts";
import { emptyKinds, impliedKinds } from "./merge.ts";
import { saysSomething, under, type SchemaNode } from "./schema-node.ts";

/** A node that must not hold. */
export interface Forbidden {
  readonly node: SchemaNode;
  /** Path of the keyword that forbids the node. */
  readonly at: string;
  /**
   * Whether the node may be violated by adding a property that nothing else mentions. Not for `oneOf`: the author of a
   * careless `oneOf` does not want properties of other variants with wrong values.
   */
  readonly mayAdd: boolean;
}

export interface Option {
  readonly nodes: readonly SchemaNode[];
  readonly forbidden?: readonly Forbidden[];
}

/** One of the options must hold. */
export interface Choice {
  readonly at: string;
  readonly from: SchemaNode;
  readonly options: readonly Option[];
  /** Whether exactly one of the options must hold. */
  readonly isExclusive?: boolean;
}

/** The node `from` applies the node `to` to the same value. */
export type Link = readonly [from: SchemaNode, to: SchemaNode];

export class CaseState {
  nodes: SchemaNode[] = [];
  seen = new Set<SchemaNode>();
  links: Link[] = [];
  choices: Choice[] = [];
  forbidden: Forbidden[] = [];
  /** Nodes with `unevaluatedItems` or `unevaluatedProperties`. */
  watchers: SchemaNode[] = [];
  lost: string[] = [];
  kinds: Kinds = EVERY_KIND;
  isLoose = false;

  /** Cost of a copy, in steps. */
  get weight(): number {
    return 8 + this.seen.size + this.links.length + this.forbidden.length;
  }

  copy(): CaseState {
    const copy = new CaseState();
    copy.nodes = [...this.nodes];
    copy.seen = new Set(this.seen);
    copy.links = [...this.links];
    copy.choices = [...this.choices];
    copy.forbidden = [...this.forbidden];
    copy.watchers = [...this.watchers];
    copy.lost = [...this.lost];
    copy.kinds = this.kinds;
    copy.isLoose = this.isLoose;
    return copy;
  }

  /** Adds a node; returns false when no value is left. */
  take(node: SchemaNode): boolean {
    this.seen.add(node);
    this.kinds &= node.kinds ?? EVERY_KIND;
    if (node.never || this.kinds === 0) return false;
    if (saysSomething(node)) this.nodes.push(node);
    return true;
  }

  watch(node: SchemaNode): void {
    if (node.not) this.forbidden.push({ node: node.not, at: under(node.at, "not"), mayAdd: true });
    if (node.unevaluatedItems || node.unevaluatedProperties) this.watchers.push(node);
  }

  lose(at: string): this {
    this.lost.push(at);
    this.isLoose = true;
    return this;
  }

  /** Returns the finished case. With `infer`, keywords about one type narrow the case to that type. */
  finish(infer: boolean): Case {
    const { nodes, lost, isLoose } = this;
    const kinds = (infer ? this.kinds & impliedKinds(nodes) : this.kinds) & ~emptyKinds(nodes);
    return { nodes, lost, isLoose, kinds };
  }
}
