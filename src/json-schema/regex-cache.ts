// Caches the regular expressions of one schema, so that each is parsed once.

import { once } from "../domain/once.ts";
import type { Spend } from "./budget.ts";
import { MAX_STEPS } from "./limits.ts";
import { finds } from "./regex.ts";
import { parseRegex } from "./regex-parser.ts";

export class RegexCache {
  private readonly steps = { left: MAX_STEPS };
  private readonly regex = once((source: string) => {
    this.spend(source.length / 16);
    return parseRegex(source);
  });

  constructor(private readonly spend: Spend) {}

  /** Whether the budget is used up, so that nothing more can be determined. */
  get isSpent(): boolean {
    return this.steps.left < 0;
  }

  /** Returns whether an expression is found in a text; undefined when that cannot be determined. */
  finds(source: string, text: string): boolean | undefined {
    if (this.isSpent) return undefined;
    const regex = this.regex(source);
    const before = this.steps.left;
    const found = regex && finds(regex, text, this.steps);
    this.spend((before - this.steps.left) / 8);
    return found;
  }
}
