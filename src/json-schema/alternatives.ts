// How many alternatives of a grammar are open at once. llama.cpp compares all of them with each other, a character at a
// time, while every other request waits.

import { fault } from "./fault.ts";
import { isObject, type JsonObject } from "./json-value.ts";
import { MAX_BEGINNING, MAX_OPEN } from "./limits.ts";
import { patternAlternatives } from "./pattern-alternatives.ts";

interface Alternatives {
  /** What a value may begin with. */
  readonly begin: number;
  /** The most that are open at any place of it. */
  readonly open: number;
}

/** Names of optional properties, any of which may come next, that cost as much as one value: they part sooner. */
const NAMES_A_VALUE = 4;
const ONE: Alternatives = { begin: 1, open: 1 };

/** Refuses a schema for the converter by which an answer would take seconds. Throws SvcError. */
export function checkAlternatives(schema: JsonObject, param: string): void {
  const { begin, open } = schemaAlternatives(schema);
  if (open > MAX_OPEN) throw fault(param, "", `at most ${MAX_OPEN} alternatives may be open at once, got ${open}`);
  if (begin === 1) return;
  const work = begin * JSON.stringify(schema).length;
  if (work <= MAX_BEGINNING) return;
  const problem = `alternatives that it begins with, times characters, may be at most ${MAX_BEGINNING}, got ${work}`;
  throw fault(param, "", problem);
}

/** Counts those of a schema for the converter, with its definitions. */
function schemaAlternatives(schema: JsonObject): Alternatives {
  return new Counter(isObject(schema["$defs"]) ? schema["$defs"] : {}).of(schema);
}

class Counter {
  private readonly known = new Map<string, Alternatives>();

  constructor(private readonly definitions: JsonObject) {}

  of(schema: unknown): Alternatives {
    if (!isObject(schema)) return ONE;
    const { $ref, anyOf, enum: values, pattern } = schema;
    if (typeof $ref === "string") return this.definition($ref);
    if (Array.isArray(anyOf)) return this.options(anyOf);
    if (Array.isArray(values)) return { begin: values.length, open: values.length };
    if (typeof pattern === "string") return { begin: 1, open: patternAlternatives(pattern) };
    const { properties, required, additionalProperties, items, prefixItems } = schema;
    const members = isObject(properties) ? Object.values(properties) : [];
    const tuple = Array.isArray(prefixItems) ? prefixItems : [];
    const inside = [...members, ...tuple, additionalProperties, items].map((part) => this.of(part).open);
    const optional = members.length - (Array.isArray(required) ? required.length : 0);
    const names = Math.max(1, Math.ceil(optional / NAMES_A_VALUE));
    return { begin: 1, open: inside.reduce((most, one) => Math.max(most, one), names) };
  }

  /** Options are open together, objects only until they part by their first name or by the constant behind it. */
  private options(options: readonly unknown[]): Alternatives {
    const names = new Map<string, Map<string | undefined, number>>();
    let begin = 0;
    let open = 0;
    for (const option of options) {
      const counts = this.of(option);
      begin += counts.begin;
      const tag = tagOf(this.target(option));
      if (!tag) {
        open += counts.open;
        continue;
      }
      const constants = names.get(tag.name) ?? new Map<string | undefined, number>();
      names.set(tag.name, constants);
      constants.set(tag.constant, (constants.get(tag.constant) ?? 0) + counts.open);
    }
    open += [...names.values()].reduce((most, constants) => Math.max(most, openOf(constants)), 0);
    return { begin, open: Math.max(begin, open) };
  }

  /** Each definition once; what contains itself is one value where it does. */
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

/** What is open behind one name, at most: what has no constant there is open with each constant. */
function openOf(constants: ReadonlyMap<string | undefined, number>): number {
  const others = constants.get(undefined) ?? 0;
  let most = others;
  for (const [constant, count] of constants) if (constant !== undefined) most = Math.max(most, others + count);
  return most;
}

/** What all of some objects begin with: the converter writes members that are required first. */
function tagOf(schema: unknown): { readonly name: string; readonly constant: string | undefined } | undefined {
  if (!isObject(schema) || !isObject(schema["properties"]) || !Array.isArray(schema["required"])) return undefined;
  const required = new Set<unknown>(schema["required"]);
  const [name, value] = Object.entries(schema["properties"]).find(([key]) => required.has(key)) ?? [];
  if (name === undefined) return undefined;
  return { name, constant: isObject(value) && "const" in value ? JSON.stringify(value["const"]) : undefined };
}
