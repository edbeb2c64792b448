// Checks a grammar that the client wrote.

import { fieldError } from "../../domain/errors.ts";
import type { Constraint } from "../../domain/generate.ts";
import { grammarSize, type GrammarSize } from "../../text/gbnf/grammar-size.ts";

/** Larger grammars would cost the engine seconds, gigabytes or its whole stack, at the first token or a later one. */
const LIMITS: readonly (readonly [Exclude<keyof GrammarSize, "hasHiddenRecursion">, number, string])[] = [
  ["depth", 1000, "brackets inside one another"],
  ["elements", 1_000_000, "elements with its repetitions spelled out"],
  ["paths", 10_000_000, "elements on all paths by which its rules begin with others"],
  ["beginnings", 5000, "alternatives that begin at one place"],
  ["row", 256, "parts in a row that may be left out"],
  ["comparisons", 2_000_000_000, "comparisons of what begins at one place, with all that is behind it"],
  ["lookups", 10_000_000_000, "elements, times those with which it begins and what is behind them"],
  ["reversed", 0, "repetitions whose upper bound is below the lower"],
  ["letters", 50_000_000, "letters in names of rules with its repetitions spelled out"],
];

/** Returns the constraint that an answer follows the grammar. Throws SvcError `invalid_value` above a limit. */
export function grammarConstraint(grammar: string, param = "grammar"): Constraint {
  const size = grammarSize(grammar);
  for (const [name, most, what] of LIMITS) {
    if (size[name] <= most) continue;
    const sentence = `may have at most ${most} ${what}; got ${Number.isFinite(size[name]) ? size[name] : "more"}`;
    throw fieldError("invalid_value", param, sentence);
  }
  if (size.hasHiddenRecursion) {
    const sentence = "must not have a rule that begins with itself where what stands before it is empty";
    throw fieldError("invalid_value", param, sentence);
  }
  return { grammar, strict: false, inexpressible: false };
}
