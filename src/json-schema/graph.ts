// Resolves the parts of a schema into cases and links them. Parts that combine the same subschemas are one part, so
// that recursive schemas become cycles in the graph.

import type { Case, CaseFinder } from "./cases.ts";
import type { Spend } from "./budget.ts";
import { fault } from "./fault.ts";
import { kindOf } from "./json-value.ts";
import { KIND, NUMBER, type Kinds } from "./kinds.ts";
import { MAX_NODES } from "./limits.ts";
import type { LiteralChecker } from "./literal.ts";
import { itemNodes, itemRange, listedValues, member, memberNames, prefixLength, requiredNames } from "./merge.ts";
import type { RegexCache } from "./regex-cache.ts";
import { isEmpty, under, type SchemaNode } from "./schema-node.ts";

export type Notes = Readonly<Record<string, unknown>>;

/** A part, with the notes of the place where it is used. */
export interface Use {
  readonly part: Part;
  readonly notes: Notes;
}

/** Subschemas that must all hold. */
export interface Part {
  readonly nodes: readonly SchemaNode[];
  cases: readonly { readonly unit: Unit; readonly lost: readonly string[] }[];
  alive: boolean;
}

export interface ObjectShape {
  readonly members: ReadonlyMap<string, Use>;
  readonly required: ReadonlySet<string>;
  /** What every property must satisfy; present only when no property is known by name. */
  readonly rest?: Use;
  /** What the names of the properties must satisfy; present only with `rest`. */
  readonly names?: Use;
}

export interface ArrayShape {
  readonly prefix: readonly Use[];
  readonly rest: Use;
  /** Whether the schema constrains items after the prefix. */
  readonly hasRest: boolean;
  readonly range: readonly [min: number, max: number];
}

/** One case, shared by all places where it occurs. */
export interface Unit {
  readonly nodes: readonly SchemaNode[];
  readonly kinds: Kinds;
  readonly values?: readonly unknown[];
  readonly object?: ObjectShape;
  readonly array?: ArrayShape;
  readonly lost: readonly string[];
  /** The kinds that have values, as far as known. */
  alive: Kinds;
  /**
   * Kinds without a value in the form that is usually written out. For these, objects are written out with fewer
   * properties than `minProperties` (the others would have to be invented), and arrays with any part of their prefix.
   */
  relaxed: Kinds;
}

export class Graph {
  private readonly parts = new Map<string, Part>();
  private readonly units = new Map<string, Unit>();
  private readonly waiting: Part[] = [];

  constructor(
    private readonly finder: CaseFinder,
    private readonly literals: LiteralChecker,
    private readonly regexes: RegexCache,
    private readonly spend: Spend,
    private readonly param: string,
  ) {}

  /** Returns the part of a node, with everything that it contains. */
  build(root: SchemaNode): Part {
    const { part } = this.use([root]);
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      next.cases = this.finder.find(next.nodes).map((one) => ({ unit: this.unit(one), lost: one.lost }));
      if (this.parts.size + this.units.size > MAX_NODES) throw fault(this.param, "", "its combinations are too many");
    }
    return part;
  }

  /** Returns every unit, in the order of discovery. */
  allUnits(): Unit[] {
    return [...this.units.values()];
  }

  allParts(): Part[] {
    return [...this.parts.values()];
  }

  private use(nodes: readonly SchemaNode[]): Use {
    this.spend(nodes.length / 8);
    const kept = [...new Set(nodes)].filter((node) => !isEmpty(node));
    const key = keyOf(kept);
    let part = this.parts.get(key);
    if (!part) {
      part = { nodes: kept, cases: [], alive: false };
      this.parts.set(key, part);
      this.waiting.push(part);
    }
    return { part, notes: notesOf(nodes) };
  }

  private unit({ nodes, kinds: all }: Case): Unit {
    // JSON Schema has no type name for numbers that are not whole, so these are left out where other types remain.
    const kinds = (all & NUMBER) === KIND.fraction && all !== KIND.fraction ? all & ~KIND.fraction : all;
    const key = `${kinds}:${keyOf(nodes)}`;
    const known = this.units.get(key);
    if (known) return known;
    this.spend((4 + nodes.length) / 8);
    const lost: string[] = [];
    const values = this.valuesOf(nodes, kinds, lost);
    const unit: Unit = {
      nodes,
      kinds,
      lost,
      alive: 0,
      relaxed: 0,
      ...(values && { values }),
      ...(!values && kinds & KIND.object && { object: this.objectOf(nodes, lost) }),
      ...(!values && kinds & KIND.array && { array: this.arrayOf(nodes) }),
    };
    if (!values) this.checkExcluded(unit, lost);
    this.units.set(key, unit);
    return unit;
  }

  private valuesOf(nodes: readonly SchemaNode[], kinds: Kinds, lost: string[]): readonly unknown[] | undefined {
    return listedValues(nodes, this.spend)?.filter((value) => {
      if ((kinds & kindOf(value)) === 0) return false;
      const verdicts = nodes.map((node) => ({ node, verdict: this.literals.check(value, node) }));
      if (verdicts.some(({ verdict }) => verdict === false)) return false;
      lost.push(...verdicts.filter(({ verdict }) => verdict === undefined).map(({ node }) => node.at));
      return true;
    });
  }

  /** Reports excluded values that are not enforced: only lists, booleans and null can leave out single values. */
  private checkExcluded({ nodes, kinds }: Unit, lost: string[]): void {
    for (const { excluded, at } of nodes) {
      const isLeft = excluded?.values.some(
        (value) =>
          value !== null &&
          typeof value !== "boolean" &&
          (kinds & kindOf(value)) !== 0 &&
          nodes.every((node) => this.literals.fits(value, node) !== false),
      );
      if (isLeft) lost.push(at);
    }
  }

  private objectOf(nodes: readonly SchemaNode[], lost: string[]): ObjectShape {
    const names = nodes.flatMap(({ object }) => object?.names ?? []);
    const members = new Map<string, Use>();
    for (const name of memberNames(nodes)) {
      this.spend((32 + nodes.length) / 64);
      const { nodes: found, unknown } = member(nodes, name, this.regexes);
      const verdicts = names.map((node) => ({ node, verdict: this.literals.check(name, node) }));
      lost.push(...unknown, ...verdicts.filter(({ verdict }) => verdict === undefined).map(({ node }) => node.at));
      const refused = verdicts.find(({ verdict }) => verdict === false);
      members.set(name, refused ? { part: DEAD, notes: {} } : this.use(found));
    }
    const required = requiredNames(nodes);
    if (members.size > 0) return { members, required };
    return { members, required, rest: this.restOf(nodes, lost), ...(names.length > 0 && { names: this.use(names) }) };
  }

  /** Returns what every property must satisfy when none is known by name. */
  private restOf(nodes: readonly SchemaNode[], lost: string[]): Use {
    const additional = nodes.flatMap(({ object }) => object?.additional ?? []);
    const patterned = nodes.flatMap(({ object }) => object?.patterns?.map(([, node]) => node) ?? []);
    // A value that satisfies both `additional` and all patterns is valid under every name.
    if (patterned.length === 0 || !additional.some(({ never }) => never))
      return this.use([...additional, ...patterned]);
    lost.push(...nodes.filter(({ object }) => object?.patterns).map(({ at }) => under(at, "patternProperties")));
    return this.use(patterned);
  }

  private arrayOf(nodes: readonly SchemaNode[]): ArrayShape {
    const length = prefixLength(nodes);
    this.spend((length * (1 + nodes.length / 16)) / 8);
    let [min, max] = itemRange(nodes);
    for (const { array } of nodes) {
      // Every item satisfies `contains`, so it only bounds the number of items.
      if (!array?.contains || !isEmpty(array.contains)) continue;
      min = Math.max(min, array.minContains ?? 1);
      max = Math.min(max, array.maxContains ?? Infinity);
    }
    return {
      prefix: Array.from({ length }, (_, index) => this.use(itemNodes(nodes, index))),
      rest: this.use(itemNodes(nodes, length)),
      hasRest: nodes.some(({ array }) => array?.items && !isEmpty(array.items)),
      range: [min, max],
    };
  }
}

/** Returns the same key for the same nodes in any order. */
function keyOf(nodes: readonly SchemaNode[]): string {
  const [only] = nodes;
  if (nodes.length <= 1) return String(only?.id ?? "");
  const ids = nodes.map(({ id }) => id);
  return ids.sort((a, b) => a - b).join();
}

/** Returns the notes of the first node that has any. */
export const notesOf = (nodes: readonly SchemaNode[]): Notes =>
  nodes.find(({ notes }) => notes !== undefined)?.notes ?? NO_NOTES;

const NO_NOTES: Notes = {};

/** A part that has no values. */
export const DEAD: Part = { nodes: [], cases: [], alive: false };
