// Measures how the rules of a GBNF grammar may begin.

import { Emptiness } from "./emptiness.ts";
import type { Item, Rule } from "./rules.ts";

interface Opening {
  /** Elements on all paths along which the rule begins with other rules. */
  readonly paths: number;
  /** How many alternatives the rule may begin with; an empty alternative counts as one. */
  readonly beginnings: number;
  /** Most of these in a row, if all items before may be empty. */
  readonly row: number;
  /** Elements of the stacks that llama.cpp makes for the rule's beginnings: each beginning, and what follows it. */
  readonly stacked: number;
}

/** A longer chain of rules, each beginning with the next, counts as an endless path. */
const LONGEST_CHAIN = 2000;

const NOTHING = { beginnings: 0, row: 0, stacked: 0 } as const;

/** Measures each rule once, while llama.cpp visits a rule once per path. */
export class Openings {
  readonly emptiness: Emptiness;
  /** By rule index. */
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

  /** Returns how much is open where an item is next: with all copies, if one may be empty so that the next begins. */
  ofItem(item: Item, measure: Exclude<keyof Opening, "paths">): number {
    const { size, rule, copies, nexts } = item;
    const one = rule ? (this.known[rule.index]?.[measure] ?? 0) : Math.min(1, size);
    return one * (this.emptiness.ofOne(item) ? copies : nexts);
  }

  /** Returns the paths of the rules that llama.cpp makes for repetitions, each beginning with the repeated rule. */
  ofRepetitions(rule: Rule): number {
    let paths = 0;
    for (const item of rule.alternatives.flat()) {
      const { rule: repeated, copies, fewest } = item;
      if (!repeated || (copies === 1 && fewest === 1)) continue;
      // If the repeated rule may be empty, each of these rules also begins with the next one.
      paths += this.of(repeated).paths * copies * (this.emptiness.ofOne(item) ? Math.max(1, copies / 2) : 1);
    }
    return paths;
  }
}

/** Returns how many characters, ranges and references a rule has, with repetitions expanded. */
export const elementsOf = ({ alternatives }: Rule): number =>
  alternatives.reduce((sum, items) => sum + items.reduce((all, { size, copies }) => all + size * copies, 1), 0);
