// Detects rules of a GBNF grammar that begin with themselves (left recursion) where llama.cpp does not detect and
// refuse it.

import { components } from "./components.ts";
import type { Emptiness } from "./emptiness.ts";
import type { Rule } from "./rules.ts";

/** The fact that rule `from` may begin with rule `to`. */
interface Beginning {
  readonly from: number;
  readonly to: number;
  /** Whether `to` follows items that may be empty without llama.cpp noticing. */
  readonly isHidden: boolean;
  /** Whether something follows `to`, which then stays on the stack. */
  readonly isHeld: boolean;
}

/**
 * Returns whether a rule begins with itself undetected by llama.cpp, so that llama.cpp's stacks would grow endlessly.
 * At the end of rules the stacks do not grow, and llama.cpp recognises a stack that it had before.
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
