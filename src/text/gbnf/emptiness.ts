// Finds which rules of a GBNF grammar may be empty, and which of these llama.cpp recognises as such.

import type { Item, Rule } from "./rules.ts";

/** An alternative that may be empty once the rules that it requires may be; `left`: those not yet known to be empty. */
interface Waiting {
  readonly rule: Rule;
  left: number;
}

export class Emptiness {
  private readonly empty: Uint8Array;
  private readonly plainlyEmpty: Uint8Array;

  constructor(rules: readonly Rule[]) {
    this.empty = new Uint8Array(rules.length);
    this.plainlyEmpty = new Uint8Array(rules.length);
    const waiting: (Waiting[] | undefined)[] = [];
    const found: Rule[] = [];
    const add = (rule: Rule) => {
      if (!this.empty[rule.index]) found.push(rule);
      this.empty[rule.index] = 1;
    };
    for (const rule of rules) {
      for (const items of rule.alternatives) {
        if (items.every(isNothing)) this.plainlyEmpty[rule.index] = 1;
        if (items.some((item) => item.fewest > 0 && !item.rule && item.size > 0)) continue;
        const alternative = { rule, left: 0 };
        for (const item of items) {
          if (item.fewest === 0 || !item.rule) continue;
          alternative.left++;
          const others = waiting[item.rule.index];
          if (others) others.push(alternative);
          else waiting[item.rule.index] = [alternative];
        }
        if (alternative.left === 0) add(rule);
      }
    }
    for (const rule of found) {
      for (const alternative of waiting[rule.index] ?? []) {
        if (--alternative.left === 0) add(alternative.rule);
      }
    }
  }

  /** Returns whether one copy of an item may be empty. */
  ofOne(item: Item): boolean {
    return item.rule ? this.empty[item.rule.index] === 1 : isNothing(item);
  }

  of(item: Item): boolean {
    return item.fewest === 0 || this.ofOne(item);
  }

  /** Returns whether llama.cpp's left recursion check treats an item as empty: rules only with an empty alternative. */
  isSeen(item: Item): boolean {
    return item.fewest === 0 || (item.rule ? this.plainlyEmpty[item.rule.index] === 1 : isNothing(item));
  }
}

const isNothing = ({ rule, size }: Item): boolean => !rule && size === 0;
