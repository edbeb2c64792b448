// Counts how many alternatives of a grammar are open at once. llama.cpp compares each with all others at every
// character, while every other request waits.

import { isObject, type JsonObject } from "../domain/json.ts";
import { once } from "../domain/once.ts";
import { fault } from "./fault.ts";
import { MAX_BEGINNING, MAX_FLAT_VALUES, MAX_OPEN } from "./limits.ts";
import { openTogether } from "./pattern-alternatives.ts";

interface Alternatives {
  /** Alternatives at the beginning of a value. */
  readonly begin: number;
  /** Most alternatives that are open at any place of the value. */
  readonly open: number;
}

/** How many names of optional properties count as one value when any of them may come next: names diverge sooner. */
const NAMES_A_VALUE = 4;
const ONE: Alternatives = { begin: 1, open: 1 };

/**
 * Throws SvcError when a schema for the converter has so many alternatives that an answer would take seconds.
 * `patterns`: most alternatives of each pattern that are open at once.
 */
export function checkAlternatives(schema: JsonObject, patterns: ReadonlyMap<unknown, number>, param: string): void {
  const alternatives = new Counter(isObject(schema["$defs"]) ? schema["$defs"] : {}, patterns).of(schema);
  const problem = tooMany(alternatives, alternatives.begin === 1 ? 0 : JSON.stringify(schema).length);
  if (problem !== undefined) throw fault(param, "", problem);
}

/** Describes why alternatives over so many characters would take seconds; undefined when they would not. */
export function tooMany({ begin, open }: Alternatives, characters: number): string | undefined {
  if (open > MAX_OPEN) return `at most ${MAX_OPEN} alternatives may be open at once, got ${open}`;
  const work = begin * characters;
  if (work <= MAX_BEGINNING) return undefined;
  return `alternatives that it begins with, times characters, may be at most ${MAX_BEGINNING}, got ${work}`;
}

/** Counts a list of texts as alternatives. The grammar of a long list branches (ffi/llama/branches.cpp). */
export function textAlternatives(texts: readonly string[]): Alternatives {
  const sorted = [...new Set(texts)].sort();
  if (sorted.length <= MAX_FLAT_VALUES) return { begin: sorted.length, open: sorted.length };
  const parted: { readonly at: number; count: number }[] = [{ at: 0, count: 1 }];
  let open = 1;
  for (const [index, text] of sorted.entries()) {
    if (index === 0) continue;
    const at = alikeUpTo(text, sorted[index - 1] ?? "");
    while ((parted.at(-1)?.at ?? 0) > at) parted.pop();
    const top = parted.at(-1);
    if (top?.at === at) top.count++;
    else parted.push({ at, count: 2 });
    open = Math.max(open, parted.at(-1)?.count ?? 0);
  }
  return { begin: parted[0]?.count ?? 1, open };
}

/** Returns the length of the common prefix in UTF-16 units, without splitting a surrogate pair. */
function alikeUpTo(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at > 0 && /[\ud800-\udbff]/.test(one[at - 1] ?? "") ? at - 1 : at;
}

class Counter {
  private readonly known = new Map<string, Alternatives>();
  /** Lists may be written out in many places. */
  private readonly list = once((values: readonly unknown[]) =>
    textAlternatives(values.map((value) => JSON.stringify(value))),
  );
  /** Returns what all objects of a schema begin with: the converter writes required members first. */
  private readonly tag = once(tagOf);

  constructor(
    private readonly definitions: JsonObject,
    private readonly patterns: ReadonlyMap<unknown, number>,
  ) {}

  of(schema: unknown): Alternatives {
    if (!isObject(schema)) return ONE;
    const { $ref, anyOf, enum: values, pattern } = schema;
    if (typeof $ref === "string") return this.definition($ref);
    if (Array.isArray(anyOf)) return this.options(anyOf);
    if (Array.isArray(values)) return this.list(values);
    if (typeof pattern === "string") return { begin: 1, open: this.patterns.get(pattern) ?? 1 };
    const { properties, required, additionalProperties, items, prefixItems } = schema;
    const members = isObject(properties) ? Object.values(properties) : [];
    const tuple = Array.isArray(prefixItems) ? prefixItems : [];
    const inside = [...members, ...tuple, additionalProperties, items].map((part) => this.of(part).open);
    const optional = members.length - (Array.isArray(required) ? required.length : 0);
    const names = Math.max(1, Math.ceil(optional / NAMES_A_VALUE));
    return { begin: 1, open: inside.reduce((most, one) => Math.max(most, one), names) };
  }

  /** Counts options that are open together; objects only until their first name or the constant after it differs. */
  private options(options: readonly unknown[]): Alternatives {
    const names = new Map<string, Map<string | undefined, number>>();
    let begin = 0;
    let open = 0;
    for (const option of options) {
      const counts = this.of(option);
      begin += counts.begin;
      const tag = this.tag(this.target(option));
      if (!tag) {
        open += counts.open;
        continue;
      }
      const constants = names.get(tag.name) ?? new Map<string | undefined, number>();
      names.set(tag.name, constants);
      constants.set(tag.constant, (constants.get(tag.constant) ?? 0) + counts.open);
    }
    open += [...names.values()].reduce((most, constants) => Math.max(most, openTogether(constants)), 0);
    return { begin, open: Math.max(begin, open) };
  }

  /** Counts each definition once. Where a definition contains itself, it counts as one value. */
  private definition(ref: string): Alternatives {
    const known = this.known.get(ref);
    if (known) return known;
    this.known.set(ref, ONE);
    const found = this.of(this.definitions[nameOf(ref)]);
    this.known.set(ref, found);
    return found;
  }

  private target(schema: unknown): unknown {
    return isObject(schema) && typeof schema["$ref"] === "string" ? this.definitions[nameOf(schema["$ref"])] : schema;
  }
}

const nameOf = (ref: string): string => ref.slice("#/$defs/".length);

interface Tag {
  readonly name: string;
  readonly constant: string | undefined;
}

function tagOf(schema: unknown): Tag | undefined {
  if (!isObject(schema) || !isObject(schema["properties"]) || !Array.isArray(schema["required"])) return undefined;
  const required = new Set<unknown>(schema["required"]);
  const [name, value] = Object.entries(schema["properties"]).find(([key]) => required.has(key)) ?? [];
  if (name === undefined) return undefined;
  return { name, constant: isObject(value) && "const" in value ? JSON.stringify(value["const"]) : undefined };
}
