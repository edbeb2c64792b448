// Proves that two subschemas have no value in common.

import type { Case, CaseFinder } from "./cases.ts";
import type { Spend } from "./budget.ts";
import { kindOf, valueKey } from "./json-value.ts";
import { KIND, NUMBER } from "./kinds.ts";
import { MAX_COMPARISONS } from "./limits.ts";
import type { LiteralChecker } from "./literal.ts";
import {
  itemNodes,
  itemRange,
  lengthRange,
  listedValues,
  member,
  memberNames,
  numberRange,
  requiredNames,
} from "./merge.ts";
import type { RegexCache } from "./regex-cache.ts";
import type { SchemaNode } from "./schema-node.ts";

/** Most levels of a value that are examined. */
const MAX_LEVELS = 4;
/** Most items of arrays that are compared. */
const MAX_ITEMS_COMPARED = 8;

type Range = readonly [min: number, max: number];

export class Apart {
  private comparisons = 0;

  constructor(
    private readonly literals: LiteralChecker,
    private readonly regexes: RegexCache,
    private readonly spend: Spend,
  ) {}

  /**
   * Returns true when no value emitted for `one` satisfies `node`, and false when that is not known. An object emitted
   * for a case with known properties has no other properties.
   */
  isApart(finder: CaseFinder, one: Case, node: SchemaNode): boolean {
    return finder.cover([node]).every((other) => this.cases(finder, one, other, true, MAX_LEVELS));
  }

  private get isSpent(): boolean {
    return this.comparisons >= MAX_COMPARISONS;
  }

  /** Returns whether some required property has different listed values in every node, which tells them apart. */
  areTagged(finder: CaseFinder, nodes: readonly SchemaNode[]): boolean {
    const covers = nodes.map((node) => finder.cover([node]));
    const cases = covers.flat();
    if (covers.some((cover) => cover.length !== 1) || cases.some(({ kinds }) => kinds !== KIND.object)) return false;
    let names: readonly string[] | undefined;
    for (const one of cases) {
      const required = requiredNames(one.nodes);
      this.spend(required.size / 8);
      names = names ? names.filter((name) => required.has(name)) : [...required];
    }
    return (names ?? []).some((name) => this.isTag(name, cases));
  }

  /** Returns whether a property has listed values in every case, and none in two of them. */
  private isTag(name: string, cases: readonly Case[]): boolean {
    const taken = new Set<string>();
    return cases.every(({ nodes }) => {
      this.spend((1 + nodes.length / 16) / 4);
      const values = listedValues(member(nodes, name, this.regexes).nodes, this.spend)?.map(valueKey);
      const isNew = values?.every((value) => !taken.has(value));
      values?.forEach((value) => taken.add(value));
      return isNew === true;
    });
  }

  private cases(finder: CaseFinder, a: Case, b: Case, closed: boolean, levels: number): boolean {
    if (this.isSpent) return false;
    this.comparisons++;
    this.spend(1 + (a.nodes.length + b.nodes.length) / 16);
    const common = a.kinds & b.kinds;
    if (common === 0) return true;
    const values = listedValues(a.nodes, this.spend);
    if (values) return values.every((value) => this.isRefused(value, b));
    const others = listedValues(b.nodes, this.spend);
    if (others) return others.every((value) => this.isNotEmitted(value, a));
    if ((common & (KIND.null | KIND.boolean)) !== 0) return false;
    if ((common & NUMBER) !== 0 && !numbersApart(a, b)) return false;
    if ((common & KIND.string) !== 0 && !rangesApart(lengthRange(a.nodes), lengthRange(b.nodes))) return false;
    if ((common & KIND.array) !== 0 && !this.arrays(finder, a, b, levels)) return false;
    return (common & KIND.object) === 0 || this.objects(finder, a, b, closed, levels);
  }

  private isRefused(value: unknown, { nodes, kinds }: Case): boolean {
    return (kinds & kindOf(value)) === 0 || nodes.some((node) => this.literals.check(value, node) === false);
  }

  /** Ignores subschemas that a node applies in place: they may be the ones that are being compared. */
  private isNotEmitted(value: unknown, { nodes, kinds }: Case): boolean {
    return (kinds & kindOf(value)) === 0 || nodes.some((node) => this.literals.fits(value, node) === false);
  }

  private arrays(finder: CaseFinder, a: Case, b: Case, levels: number): boolean {
    const [first, second] = [itemRange(a.nodes), itemRange(b.nodes)];
    if (rangesApart(first, second)) return true;
    const both = Math.min(Math.max(first[0], second[0]), MAX_ITEMS_COMPARED);
    return Array.from({ length: both }, (_, index) => index).some((index) =>
      this.parts(finder, itemNodes(a.nodes, index), itemNodes(b.nodes, index), levels - 1),
    );
  }

  private objects(finder: CaseFinder, a: Case, b: Case, closed: boolean, levels: number): boolean {
    const known = memberNames(a.nodes);
    const wanted = requiredNames(b.nodes);
    this.spend((known.size + wanted.size) / 16);
    if (closed && known.size > 0 && [...wanted].some((name) => !known.has(name))) return true;
    return [...requiredNames(a.nodes), ...wanted].some((name) => {
      if (this.isSpent) return false;
      this.spend((1 + (a.nodes.length + b.nodes.length) / 16) / 4);
      return this.parts(
        finder,
        member(a.nodes, name, this.regexes).nodes,
        member(b.nodes, name, this.regexes).nodes,
        levels - 1,
      );
    });
  }

  private parts(finder: CaseFinder, a: readonly SchemaNode[], b: readonly SchemaNode[], levels: number): boolean {
    if (levels === 0) return false;
    const others = finder.cover(b);
    return finder
      .cover(a)
      .every((one) => others.every((other) => this.cases(finder, one, other, !one.isLoose, levels)));
  }
}

const rangesApart = (a: Range, b: Range): boolean => a[1] < b[0] || b[1] < a[0];

function numbersApart(a: Case, b: Case): boolean {
  const [first, second] = [numberRange(a.nodes), numberRange(b.nodes)];
  return [[first, second] as const, [second, first] as const].some(
    ([{ max }, { min }]) =>
      max && min && (max.value < min.value || (max.value === min.value && (max.exclusive || min.exclusive))),
  );
}
