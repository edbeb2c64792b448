// Measures the work of llama.cpp for a GBNF grammar before the first token of an answer: it recurses into every
// bracket, expands repetitions, and checks every path for left recursion. (llama.cpp, src/llama-grammar.cpp)

import { hasHiddenRecursion } from "./hidden-recursion.ts";
import { elementsOf, Openings } from "./openings.ts";
import { mostOpen } from "./places.ts";
import { grammarRules } from "./rules.ts";

/** Sizes that determine that work. Text that is not a grammar has sizes too. */
export interface GrammarSize {
  /** Nesting depth of brackets. */
  readonly depth: number;
  /** Characters, ranges and references to rules, with repetitions expanded. */
  readonly elements: number;
  /** Elements visited on all paths along which rules begin with other rules. */
  readonly paths: number;
  /** Most alternatives that may begin at one place: each is compared with the others, and with every token. */
  readonly beginnings: number;
  /**
   * Most of these alternatives in a row, if each may be omitted so that the next begins: each is open after every
   * alternative before it, so the work grows with the cube of this.
   */
  readonly row: number;
  /** Most elements compared when the stacks with which a single rule begins are compared with one another. */
  readonly comparisons: number;
  /** Elements of the initial stacks, times all elements: each answer looks up each of the former in the latter. */
  readonly lookups: number;
  /** Letters of rule names: each bracket and each expanded repetition has a copy of the name of its rule. */
  readonly letters: number;
  /** Repetitions with a maximum below the minimum, such as `{2,1}`: llama.cpp would count down from there endlessly. */
  readonly reversed: number;
  /** Whether a rule begins with itself undetected by llama.cpp, which would then expand the rule endlessly. */
  readonly hasHiddenRecursion: boolean;
}

/** Nesting depth of brackets from which nothing else matters. */
const BOTTOMLESS = 10_000;

/**
 * Measures a grammar in time proportional to its text. With brackets deeper than BOTTOMLESS, returns their depth and
 * otherwise the size of an empty grammar.
 */
export function grammarSize(text: string): GrammarSize {
  const { rules, root, depth, letters, reversed } = grammarRules(text);
  if (depth > BOTTOMLESS) return { ...grammarSize(""), depth };
  const elements = rules.reduce((sum, rule) => sum + elementsOf(rule), 0);
  const openings = new Openings(rules);
  const paths = rules.reduce((sum, rule) => sum + openings.of(rule).paths + openings.ofRepetitions(rule), 0);
  const beginnings = mostOpen(rules, openings, "beginnings");
  const row = mostOpen(rules, openings, "row");
  const comparisons = rules.reduce((most, rule) => {
    const { beginnings: stacks, stacked } = openings.of(rule);
    return Math.max(most, stacks * stacked);
  }, 0);
  const lookups = root ? openings.of(root).stacked * elements : 0;
  const recursion = { hasHiddenRecursion: hasHiddenRecursion(rules, openings.emptiness) };
  return { depth, elements, paths, beginnings, row, comparisons, lookups, letters, reversed, ...recursion };
}
