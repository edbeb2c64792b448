// Rules of a GBNF grammar that begin with themselves, which llama.cpp refuses where it sees it.

import { components } from "./components.ts";
import type { Emptiness } from "./emptiness.ts";
import type { Rule } from "./rules.ts";

/** A rule begins with another. */
interface Beginning {
  readonly from: number;
  readonly to: number;
  /** Behind others of which llama.cpp does not know that they may be empty. */
  readonly isHidden: boolean;
  /** Something comes behind it, which waits in the stack. */
  readonly isHeld: boolean;
}

/**
 * Whether a rule begins with itself, llama.cpp does not see it, and its stacks would grow without end. At the end of rules
 * they do not, and llama.cpp knows a stack that it has had.
 */
export function hasHiddenRecursion(rules: readonly Rule[], emptiness: Emptiness): boolean {
  const beginnings = rules.flatMap((rule) => beginningsOf(rule, emptiness));
  const graph: number[][] = rules.map(() => []);
  for (const { from, to } of beginnings) graph[from]?.push(to);
  const groupOf = new Int32Array(rules.length);
  for (const [group, members] of components(graph).entries()) for (const member of members) groupOf[member] = group;
  const inside = beginnings.filter(({ from, to }) => groupOf[from] === groupOf[to]);
  const hidden = new Set(inside.filter(({ isHidden }) => isHidden).map(({ from }) => groupOf[from]));
  return inside.some(({ from, isHeld }) => isHeld && hidden.has(groupOf[from]));
}

function beginningsOf({ index, alternatives }: Rule, emptiness: Emptiness): Beginning[] {
  const found: Beginning[] = [];
  for (const items of alternatives) {
    let isHidden = false;
    for (const item of items) {
      const isEmpty = emptiness.of(item);
      const isSeen = emptiness.isSeen(item);
      if (item.rule) {
        const isHeld = item.isRepeated || item !== items.at(-1);
        found.push({ from: index, to: item.rule.index, isHidden, isHeld });
      }
      if (!isEmpty) break;
      isHidden ||= !isSeen;
    }
  }
  return found;
}
