// What llama.cpp makes of a GBNF grammar before the first token of an answer: it recurses into every bracket, spells out
// repetitions, and looks for left recursion along every path. (llama.cpp, src/llama-grammar.cpp)

import { hasHiddenRecursion } from "./hidden-recursion.ts";
import { elementsOf, Openings } from "./openings.ts";
import { mostOpen } from "./places.ts";
import { grammarRules } from "./rules.ts";

/** Sizes that decide how much that costs. A text that is no grammar has some as well. */
export interface GrammarSize {
  /** Brackets inside one another. */
  readonly depth: number;
  /** Characters, ranges and references to rules, with repetitions spelled out. */
  readonly elements: number;
  /** Elements that are looked at on all paths by which rules begin with other rules. */
  readonly paths: number;
  /** Most alternatives that may begin at one place: each is compared with the others, and with each token of the vocabulary. */
  readonly beginnings: number;
  /**
   * Most of them in a row, where each may be left out and the next begin: each of them is open after each one before it, and
   * the work grows with the cube.
   */
  readonly row: number;
  /** Most elements that are compared where the stacks with which one rule begins are compared with one another. */
  readonly comparisons: number;
  /** Elements that the stacks of the grammar's beginning have, times all elements: each answer looks each of them up in all. */
  readonly lookups: number;
  /** Letters of rules' names: each bracket and each repetition, spelled out, has that of the rule it is in. */
  readonly letters: number;
  /** Repetitions that end below where they begin, as `{2,1}`: llama.cpp counts down from there without end. */
  readonly reversed: number;
  /** A rule begins with itself, and llama.cpp, which does not see it, would open it in itself without end. */
  readonly hasHiddenRecursion: boolean;
}

const NOTHING: GrammarSize = {
  depth: 0,
  elements: 0,
  paths: 0,
  beginnings: 0,
  row: 0,
  comparisons: 0,
  lookups: 0,
  letters: 0,
  reversed: 0,
  hasHiddenRecursion: false,
};

/** So many brackets inside one another that nothing else matters. */
const BOTTOMLESS = 10_000;

/** Takes time in proportion to the text. Of brackets far too deep, only their depth is told. */
export function grammarSize(text: string): GrammarSize {
  const { rules, root, depth, letters, reversed } = grammarRules(text);
  if (depth > BOTTOMLESS) return { ...NOTHING, depth };
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
