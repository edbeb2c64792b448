// How the rules of a GBNF grammar begin.

import { Emptiness } from "./emptiness.ts";
import type { Item, Rule } from "./rules.ts";

interface Opening {
  /** Elements on all paths by which the rule begins with others. */
  readonly paths: number;
  /** Alternatives that it may begin with; one that is empty is one, too. */
  readonly beginnings: number;
  /** The most of them behind one another, where all before may be empty. */
  readonly row: number;
  /** Elements of the stacks that llama.cpp makes of its beginnings: what each is, and what comes behind it. */
  readonly stacked: number;
}

/** Rules that begin with one another and are more than this are counted as endless paths. */
const LONGEST_CHAIN = 2000;

const NOTHING = { beginnings: 0, row: 0, stacked: 0 } as const;

/** Each rule is looked at once here, while llama.cpp looks at it once a path. */
export class Openings {
  readonly emptiness: Emptiness;
  /** By rule. */
  private readonly known: (Opening | undefined)[] = [];
  private readonly entered = new Set<Rule>();

  constructor(rules: readonly Rule[]) {
    this.emptiness = new Emptiness(rules);
  }

  of(rule: Rule): Opening {
    const known = this.known[rule.index];
    if (known) return known;
    if (this.entered.has(rule)) return { paths: 0, ...NOTHING };
    if (this.entered.size >= LONGEST_CHAIN) return { paths: Number.POSITIVE_INFINITY, ...NOTHING };
    this.entered.add(rule);
    let paths = elementsOf(rule);
    let beginnings = 0;
    let row = 0;
    let stacked = 0;
    for (const items of rule.alternatives) {
      let opened = 0;
      let inRow = 0;
      for (const item of items) {
        if (item.rule) {
          paths += this.of(item.rule).paths * (this.emptiness.ofOne(item) ? item.copies : 1);
        }
        const begun = this.ofItem(item, "beginnings");
        opened += begun;
        inRow += this.ofItem(item, "row");
        stacked += this.ofItem(item, "stacked") + (item.isRepeated || item !== items.at(-1) ? begun : 0);
        if (!this.emptiness.of(item)) break;
      }
      beginnings += Math.max(1, opened);
      row = Math.max(row, inRow);
    }
    this.entered.delete(rule);
    const opening = { paths, beginnings, row, stacked };
    this.known[rule.index] = opening;
    return opening;
  }

  /** What may be open where this is next: with its copies, where one may be left out and the next begin. */
  ofItem(item: Item, measure: Exclude<keyof Opening, "paths">): number {
    const { size, rule, copies, nexts } = item;
    const one = rule ? (this.known[rule.index]?.[measure] ?? 0) : Math.min(1, size);
    return one * (this.emptiness.ofOne(item) ? copies : nexts);
  }

  /** Paths that the rules begin which llama.cpp makes of repetitions: one for each, and each begins with what is repeated. */
  ofRepetitions(rule: Rule): number {
    let paths = 0;
    for (const item of rule.alternatives.flat()) {
      const { rule: repeated, copies, fewest } = item;
      if (!repeated || (copies === 1 && fewest === 1)) continue;
      // Where that may be empty, with the next of them, too.
      paths += this.of(repeated).paths * copies * (this.emptiness.ofOne(item) ? Math.max(1, copies / 2) : 1);
    }
    return paths;
  }
}

/** Characters, ranges and references of a rule, with repetitions spelled out. */
export const elementsOf = ({ alternatives }: Rule): number =>
  alternatives.reduce((sum, items) => sum + items.reduce((all, { size, copies }) => all + size * copies, 1), 0);
