// Which rules of a GBNF grammar may be empty, and which of them llama.cpp takes for such.

import type { Item, Rule } from "./rules.ts";

/** An alternative that may be empty when all rules in it that have to be there are. */
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

  /** Whether one of it may be empty. */
  ofOne(item: Item): boolean {
    return item.rule ? this.empty[item.rule.index] === 1 : isNothing(item);
  }

  of(item: Item): boolean {
    return item.fewest === 0 || this.ofOne(item);
  }

  /** llama.cpp's look for left recursion takes only those rules for empty that have an alternative without any element. */
  isSeen(item: Item): boolean {
    return item.fewest === 0 || (item.rule ? this.plainlyEmpty[item.rule.index] === 1 : isNothing(item));
  }
}

const isNothing = ({ rule, size }: Item): boolean => !rule && size === 0;
