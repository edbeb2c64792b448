// Checks a grammar that the client wrote.

import { fieldError } from "../../domain/errors.ts";
import type { Constraint } from "../../domain/generate.ts";
import { grammarSize, type GrammarSize } from "../../text/gbnf/grammar-size.ts";

/** Larger grammars would cost the engine seconds, gigabytes or its whole stack, at the first token or a later one. */
const LIMITS: readonly (readonly [Exclude<keyof GrammarSize, "hasHiddenRecursion">, number, string])[] = [
  ["depth", 1000, "nested brackets"],
  ["elements", 1_000_000, "elements with its repetitions expanded"],
  ["paths", 10_000_000, "elements on all paths by which its rules begin with other rules"],
  ["beginnings", 5000, "alternatives that begin at one place"],
  ["row", 256, "consecutive optional parts"],
  ["comparisons", 2_000_000_000, "comparisons of the alternatives that begin at one place, with all that follows them"],
  ["lookups", 10_000_000_000, "elements, multiplied by those with which it begins and all that follows them"],
  ["reversed", 0, "repetitions whose upper bound is below the lower"],
  ["letters", 50_000_000, "letters in names of rules with its repetitions expanded"],
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
    const sentence = "must not have a rule that begins with itself after parts that can be empty";
    throw fieldError("invalid_value", param, sentence);
  }
  return { grammar, strict: false, inexpressible: false };
}
