import type { Spend } from "./budget.ts";
import type { SchemaFields, SchemaNode } from "./schema-node.ts";

/** Makes nodes, numbered in the order in which they are made. */
export class NodeMaker {
  private made = 0;

  private readonly kept = new Map<string, SchemaNode>();

  constructor(readonly spend: Spend) {}

  make(at: string, fields: SchemaFields): SchemaNode {
    this.spend(1 / 2);
    return { id: this.made++, at, ...fields };
  }

  /** Returns the node that was made for a key before, or a new one. */
  cached(key: string, at: string, fields: () => SchemaFields): SchemaNode {
    const node = this.kept.get(key) ?? this.make(at, fields());
    this.kept.set(key, node);
    return node;
  }
}
