// Checks whether a literal value in a schema satisfies a subschema.

import { isObject } from "../domain/json.ts";
import { formatPattern, isKnownFormat } from "./formats.ts";
import type { Spend } from "./budget.ts";
import { codePoints, isMultiple, kindOf, valueKey } from "./json-value.ts";
import type { RegexCache } from "./regex-cache.ts";
import type { ArrayFacts, NumberFacts, ObjectFacts, SchemaNode, StringFacts } from "./schema-node.ts";

/** Undefined when the result could not be determined. */
type Verdict = boolean | undefined;

const all = (verdicts: Iterable<Verdict>): Verdict => {
  let result: Verdict = true;
  for (const verdict of verdicts) {
    if (verdict === false) return false;
    result = verdict === undefined ? undefined : result;
  }
  return result;
};

const negate = (verdict: Verdict): Verdict => (verdict === undefined ? undefined : !verdict);
const any = (verdicts: Iterable<Verdict>): Verdict => negate(all([...verdicts].map(negate)));

const within = (value: number, min: number | undefined, max: number | undefined): boolean =>
  value >= (min ?? 0) && value <= (max ?? Infinity);

/** Checks values exactly, within a budget of steps: nested subschemas can otherwise take forever. */
export class LiteralChecker {
  private readonly keys = new Map<unknown, string>();

  constructor(
    private readonly regexes: RegexCache,
    private steps: number,
    private readonly spend: Spend,
  ) {}

  check(value: unknown, node: SchemaNode): Verdict {
    if (!this.step()) return undefined;
    return all(this.verdicts(value, node));
  }

  /** Like `check`, but considers only what the node itself allows, not what it excludes or applies in place. */
  fits(value: unknown, node: SchemaNode): Verdict {
    if (!this.step()) return undefined;
    return all(this.own(value, node));
  }

  private step(): boolean {
    this.spend(1 / 3);
    return --this.steps >= 0;
  }

  private *verdicts(value: unknown, node: SchemaNode): Iterable<Verdict> {
    yield* this.own(value, node);
    if (node.excluded) yield !node.excluded.byKey.has(this.keyOf(value));
    yield* this.applied(value, node);
  }

  private *own(value: unknown, node: SchemaNode): Iterable<Verdict> {
    if (node.never) yield false;
    if (node.unknown) yield undefined;
    if (node.kinds !== undefined) yield (node.kinds & kindOf(value)) !== 0;
    for (const list of node.values ?? []) yield list.byKey.has(this.keyOf(value));
    if (node.number && typeof value === "number") yield numberIs(value, node.number);
    if (node.string && typeof value === "string") yield this.stringIs(value, node.string);
    if (node.array && Array.isArray(value)) yield this.arrayIs(value, node.array);
    if (node.object && isObject(value)) yield this.objectIs(value, node.object);
  }

  private *applied(value: unknown, node: SchemaNode): Iterable<Verdict> {
    const checked = (nodes: readonly SchemaNode[]) => nodes.map((other) => this.check(value, other));
    if (node.target) yield this.check(value, node.target);
    for (const other of node.allOf ?? []) yield this.check(value, other);
    if (node.anyOf) yield any(checked(node.anyOf));
    if (node.oneOf) {
      const results = checked(node.oneOf);
      const valid = results.filter((result) => result === true).length;
      yield results.includes(undefined) && valid < 2 ? undefined : valid === 1;
    }
    if (node.not) yield negate(this.check(value, node.not));
    if (node.condition) {
      const { if: test, whenTrue, whenFalse } = node.condition;
      const holds = this.check(value, test);
      const first = whenTrue ? this.check(value, whenTrue) : true;
      const second = whenFalse ? this.check(value, whenFalse) : true;
      yield all([any([negate(holds), first]), any([holds, second])]);
    }
    for (const { property, required, node: other } of node.dependencies ?? []) {
      if (!isObject(value) || !Object.hasOwn(value, property)) continue;
      yield required.every((name) => Object.hasOwn(value, name));
      if (other) yield this.check(value, other);
    }
    // Which parts count as evaluated depends on everything above, so the result is undetermined.
    if (node.unevaluatedItems && Array.isArray(value) && value.length > 0) yield undefined;
    if (node.unevaluatedProperties && isObject(value) && Object.keys(value).length > 0) yield undefined;
  }

  private keyOf(value: unknown): string {
    const known = this.keys.get(value);
    if (known !== undefined) return known;
    const key = valueKey(value);
    this.spend(key.length / 64);
    // Short keys are made faster than they are found.
    if (key.length > 64) this.keys.set(value, key);
    return key;
  }

  private stringIs(value: string, { minLength, maxLength, pattern, format }: StringFacts): Verdict {
    this.spend(value.length / 64);
    if (!within(codePoints(value), minLength, maxLength)) return false;
    const source = format === undefined ? undefined : formatPattern(format);
    return all([
      pattern === undefined ? true : this.regexes.finds(pattern, value),
      // The patterns leave out some valid strings, so a mismatch proves nothing.
      format === undefined ||
        !isKnownFormat(format) ||
        (source !== undefined && this.regexes.finds(source, value)) ||
        undefined,
    ]);
  }

  private arrayIs(value: readonly unknown[], facts: ArrayFacts): Verdict {
    const { prefix = [], items, contains, minContains, maxContains } = facts;
    if (!within(value.length, facts.minItems, facts.maxItems)) return false;
    this.spend(value.length / 8);
    if (facts.uniqueItems && new Set(value.map((item) => this.keyOf(item))).size < value.length) return false;
    const parts = value.map((item, index) => {
      const node = prefix[index] ?? items;
      return node ? this.check(item, node) : true;
    });
    if (contains) {
      const results = value.map((item) => this.check(item, contains));
      const count = results.filter((result) => result === true).length;
      parts.push(results.includes(undefined) ? undefined : within(count, minContains ?? 1, maxContains));
    }
    return all(parts);
  }

  private objectIs(value: Readonly<Record<string, unknown>>, facts: ObjectFacts): Verdict {
    const names = Object.keys(value);
    this.spend(names.length / 8);
    if (!within(names.length, facts.minProperties, facts.maxProperties)) return false;
    if (facts.required?.some((name) => !Object.hasOwn(value, name))) return false;
    return all(names.map((name) => this.memberIs(name, value[name], facts)));
  }

  private memberIs(
    name: string,
    value: unknown,
    { properties, patterns = [], additional, names }: ObjectFacts,
  ): Verdict {
    const property = properties?.get(name);
    const verdicts: Verdict[] = [];
    if (property) verdicts.push(this.check(value, property));
    let others: Verdict = property === undefined;
    for (const [source, node] of patterns) {
      const matches = this.regexes.finds(source, name);
      if (matches === true) others = false;
      if (matches === undefined && others === true) others = undefined;
      if (matches !== false) verdicts.push(any([negate(matches), this.check(value, node)]));
    }
    if (additional && others !== false) verdicts.push(any([negate(others), this.check(value, additional)]));
    if (names) verdicts.push(this.check(name, names));
    return all(verdicts);
  }
}

function numberIs(value: number, { min, max, multipleOf }: NumberFacts): boolean {
  if (min && (min.exclusive ? value <= min.value : value < min.value)) return false;
  if (max && (max.exclusive ? value >= max.value : value > max.value)) return false;
  return multipleOf === undefined || isMultiple(value, multipleOf);
}
