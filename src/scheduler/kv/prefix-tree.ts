// Which tokens are in a cache, as a radix tree. A node is a run of tokens that the cache holds once; the path from the
// root to a node is what the sequences that end there hold. Siblings may begin with the same tokens, if these were
// computed twice at the same time. Different LoRA adapters compute different states, so each set has its own root.

import { commonLength } from "../common-length.ts";

/** A sequence in a cache. */
export interface Holder {
  readonly id: number;
  /** How many of its tokens are in the cache. */
  readonly length: number;
}

interface PrefixMatch {
  /** How many of the tokens are in the cache. */
  readonly length: number;
  /** Sequences that hold all of these tokens, the shortest first. */
  readonly holders: readonly Holder[];
}

class Node {
  readonly children: Node[] = [];
  /** Sequences that end here. */
  readonly ends = new Set<Entry>();
  /** Sequences that end here or below. */
  holders = 0;

  /** The node's tokens are `tokens[start..end)` of a whole sequence, so `start` is also its depth in tokens. */
  constructor(
    public parent: Node | undefined,
    public tokens: Int32Array,
    public start: number,
    public end: number,
  ) {}

  get size(): number {
    return this.end - this.start;
  }
}

class Entry implements Holder {
  constructor(
    readonly id: number,
    readonly adapterKey: string,
    public node: Node,
  ) {}

  get length(): number {
    return this.node.end;
  }
}

export class PrefixTree {
  /** Tokens in all nodes, each node counted once. */
  cells = 0;
  /** Root nodes by adapter key. */
  private readonly roots = new Map<string, Node>();
  private readonly entries = new Map<number, Entry>();

  has(id: number): boolean {
    return this.entries.has(id);
  }

  /** Returns how many tokens a sequence holds; 0 for an unknown id. */
  lengthOf(id: number): number {
    return this.entries.get(id)?.length ?? 0;
  }

  /** Returns the tokens that a sequence holds; none for an unknown id. */
  tokensOf(id: number): Int32Array {
    const node = this.entries.get(id)?.node;
    return node ? node.tokens.slice(0, node.end) : new Int32Array(0);
  }

  /** Returns the key of the adapters that computed a sequence. Throws Error for an unknown id. */
  adapterKeyOf(id: number): string {
    const entry = this.entries.get(id);
    if (!entry) throw new Error(`sequence ${id} is not in the tree`);
    return entry.adapterKey;
  }

  /** Returns how many tokens no other sequence holds: removing this sequence would free them. */
  exclusive(id: number): number {
    const entry = this.entries.get(id);
    let cells = 0;
    for (let node = entry?.node; node?.parent && node.holders === 1; node = node.parent) cells += node.size;
    return cells;
  }

  /** Returns the node with a sequence's token at this index. */
  nodeAt(id: number, index: number): object | undefined {
    let node = this.entries.get(id)?.node;
    while (node && node.start > index) node = node.parent;
    return node;
  }

  /** Returns how many of their first tokens two sequences hold in the same nodes. */
  common(a: number, b: number): number {
    const nodes = new Set<Node>();
    for (let node = this.entries.get(a)?.node; node; node = node.parent) nodes.add(node);
    for (let node = this.entries.get(b)?.node; node; node = node.parent) if (nodes.has(node)) return node.end;
    return 0;
  }

  /** Returns how many of the first `length` tokens of a sequence some sequence that `chosen` accepts holds too. */
  sharedLength(id: number, length: number, chosen: (id: number) => boolean): number {
    for (let node = this.entries.get(id)?.node; node?.parent; node = node.parent) {
      const isShared = node.start < length && holdersBelow(node).some((holder) => chosen(holder.id));
      if (isShared) return Math.min(node.end, length);
    }
    return 0;
  }

  /** Returns the tokens in nodes that at least one of the chosen sequences holds, each node counted once. */
  cellsOf(chosen: (id: number) => boolean): number {
    let cells = 0;
    const visit = (node: Node): boolean => {
      let held = [...node.ends].some(({ id }) => chosen(id));
      for (const child of node.children) held = visit(child) || held;
      if (held) cells += node.size;
      return held;
    };
    for (const root of this.roots.values()) visit(root);
    return cells;
  }

  /** Returns the longest prefix of `tokens[0..limit)` that these adapters computed. */
  match(adapterKey: string, tokens: Int32Array, limit: number): PrefixMatch {
    const root = this.roots.get(adapterKey);
    if (!root) return NOTHING;
    const { node, length } = this.deepest(root, tokens, limit);
    return { length, holders: length > 0 ? holdersBelow(node).toSorted((a, b) => a.length - b.length) : [] };
  }

  /** Returns the longest prefix of `tokens[0..limit)` that is a whole chosen sequence. */
  matchWhole(adapterKey: string, tokens: Int32Array, limit: number, chosen: (id: number) => boolean): PrefixMatch {
    const root = this.roots.get(adapterKey);
    if (!root) return NOTHING;
    const { node, length } = this.deepest(root, tokens, limit);
    for (let at: Node | undefined = node; at?.parent; at = at.parent) {
      if (at.end > length) continue;
      const holders = [...at.ends].filter(({ id }) => chosen(id));
      if (holders.length > 0) return { length: at.end, holders };
    }
    return NOTHING;
  }

  /** Returns the other sequences whose tokens are a prefix of this one's. */
  prefixesOf(id: number): number[] {
    const found: number[] = [];
    for (let at = this.entries.get(id)?.node; at?.parent; at = at.parent) {
      for (const entry of at.ends) if (entry.id !== id) found.push(entry.id);
    }
    return found;
  }

  /** Adds an empty sequence, to be computed by these adapters. Throws Error if the id is in use. */
  add(id: number, adapterKey: string): void {
    let root = this.roots.get(adapterKey);
    if (!root) this.roots.set(adapterKey, (root = new Node(undefined, new Int32Array(0), 0, 0)));
    this.insert(id, adapterKey, root);
  }

  /** Adds a sequence that holds the first `length` tokens of another. Throws Error if that one is shorter. */
  fork(id: number, from: number, length: number): void {
    const source = this.entries.get(from);
    if (!source || source.length < length) throw new Error(`sequence ${from} does not hold ${length} tokens`);
    let { node } = source;
    while (node.start >= length) node = node.parent as Node;
    if (node.end > length) node = this.split(node, length);
    this.insert(id, source.adapterKey, node);
  }

  /** Lengthens a sequence to the first `length` of `tokens`, of which what it held before is a prefix. */
  extend(id: number, tokens: Int32Array, length: number): void {
    const entry = this.entries.get(id);
    if (!entry || length <= entry.length) return;
    let { node } = entry;
    this.cells += length - node.end;
    if (node.parent && node.holders === 1) {
      node.tokens = tokens;
      node.end = length;
      return;
    }
    node.ends.delete(entry);
    const child = new Node(node, tokens, node.end, length);
    node.children.push(child);
    child.holders = 1;
    child.ends.add(entry);
    entry.node = child;
  }

  /** Shortens a sequence to its first `length` tokens. */
  trim(id: number, length: number): void {
    const entry = this.entries.get(id);
    if (!entry || entry.length <= length) return;
    let { node } = entry;
    node.ends.delete(entry);
    while (node.parent && node.start >= length) {
      const { parent } = node;
      this.leave(node);
      node = parent;
    }
    if (node.end > length) {
      if (node.holders === 1) {
        this.cells -= node.end - length;
        node.end = length;
      } else {
        const lower = node;
        node = this.split(lower, length);
        this.leave(lower);
      }
    }
    node.ends.add(entry);
    entry.node = node;
  }

  remove(id: number): void {
    const entry = this.entries.get(id);
    if (!entry) return;
    this.trim(id, 0);
    const root = entry.node;
    root.ends.delete(entry);
    if (--root.holders === 0) this.roots.delete(entry.adapterKey);
    this.entries.delete(id);
  }

  private insert(id: number, adapterKey: string, node: Node): void {
    if (this.entries.has(id)) throw new Error(`sequence ${id} is in the tree already`);
    const entry = new Entry(id, adapterKey, node);
    this.entries.set(id, entry);
    node.ends.add(entry);
    for (let at: Node | undefined = node; at; at = at.parent) at.holders++;
  }

  private deepest(node: Node, tokens: Int32Array, limit: number): { node: Node; length: number } {
    let best = { node, length: node.end };
    for (const child of node.children) {
      const length = commonLength(child.tokens, tokens, Math.min(child.end, limit), child.start);
      const found = length === child.end ? this.deepest(child, tokens, limit) : { node: child, length };
      if (found.length > best.length) best = found;
    }
    return best;
  }

  /** Splits a node in two and returns the upper one. */
  private split(node: Node, at: number): Node {
    const parent = node.parent as Node;
    const upper = new Node(parent, node.tokens, node.start, at);
    upper.holders = node.holders;
    upper.children.push(node);
    parent.children[parent.children.indexOf(node)] = upper;
    node.parent = upper;
    node.start = at;
    return upper;
  }

  /** Records that one sequence fewer holds this node. Removes it if none is left, and joins it with its only child. */
  private leave(node: Node): void {
    node.holders--;
    const parent = node.parent as Node;
    const at = parent.children.indexOf(node);
    const [child] = node.children;
    if (node.holders === 0) {
      parent.children.splice(at, 1);
      this.cells -= node.size;
    } else if (child && node.children.length === 1 && node.ends.size === 0) {
      child.start = node.start;
      child.parent = parent;
      parent.children[at] = child;
    }
  }
}

const NOTHING: PrefixMatch = { length: 0, holders: [] };

const holdersBelow = (node: Node): Entry[] => [...node.ends, ...node.children.flatMap(holdersBelow)];
