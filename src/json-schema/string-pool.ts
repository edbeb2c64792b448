// Collects the strings with patterns and lengths of a whole schema.

import type { JsonObject } from "../domain/json.ts";
import { TEXT_A_STEP, type Spend } from "./budget.ts";
import { MAX_COPIES, MAX_TOTAL_REPETITION } from "./limits.ts";

interface Occurrence {
  readonly written: JsonObject;
  readonly plan: JsonObject;
}

/** Counts repetitions, each of which is a rule of the grammar, and makes definitions of patterns that occur often. */
export class StringPool {
  private readonly known = new Map<string, Occurrence[]>();
  /** Numbers of the patterns, which may be long. */
  private readonly patterns = new Map<unknown, number>();
  private repetitions = 0;

  constructor(private readonly take: Spend) {}

  /** Returns a schema to write out, or undefined when the grammar would have too many repetitions. */
  write(plan: JsonObject, repetitions: number): JsonObject | undefined {
    const written = { ...plan };
    if (repetitions === 0 && !("pattern" in plan)) return written;
    const key = this.keyOf(plan);
    const occurrences = this.known.get(key) ?? [];
    if (occurrences.length <= MAX_COPIES) {
      if (!this.spend(repetitions)) return undefined;
      this.take(String(plan["pattern"] ?? "").length / TEXT_A_STEP);
    }
    occurrences.push({ written, plan });
    this.known.set(key, occurrences);
    return written;
  }

  private keyOf({ pattern, ...others }: JsonObject): string {
    const number = this.patterns.get(pattern) ?? this.patterns.size;
    this.patterns.set(pattern, number);
    return `${number} ${JSON.stringify(others)}`;
  }

  /** Adds repetitions to the count; returns false, without adding them, when they would exceed the limit. */
  spend(repetitions: number): boolean {
    if (this.repetitions + repetitions > MAX_TOTAL_REPETITION) return false;
    this.repetitions += repetitions;
    return true;
  }

  /**
   * Replaces strings that were written out often by references, because the converter goes through all its rules for
   * each pattern. `define` takes a definition and returns its name.
   */
  share(define: (schema: JsonObject) => string): void {
    for (const occurrences of this.known.values()) {
      const [first] = occurrences;
      if (!first || occurrences.length <= MAX_COPIES) continue;
      const name = define({ ...first.plan });
      for (const { written, plan } of occurrences) {
        for (const key of Object.keys(plan)) delete written[key];
        written["$ref"] = `#/$defs/${name}`;
      }
    }
  }
}
