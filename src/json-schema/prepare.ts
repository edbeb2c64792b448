// Rewrites a client's JSON schema into the subset that llama.cpp's schema-to-grammar converter enforces.

import { markAlive } from "./alive.ts";
import { Apart } from "./apart.ts";
import { CaseFinder } from "./cases.ts";
import { SchemaBudget, type Spend } from "./budget.ts";
import { emit } from "./emit.ts";
import { fault } from "./fault.ts";
import { Graph, type Part } from "./graph.ts";
import { MAX_CHARACTERS, MAX_JSON_DEPTH, MAX_NODES, MAX_STEPS } from "./limits.ts";
import { LiteralChecker } from "./literal.ts";
import { Negator } from "./negate.ts";
import { NodeMaker } from "./node-maker.ts";
import { SchemaParser } from "./parse.ts";
import { resolveReferences } from "./references.ts";
import type { PreparedSchema, PreparedSchemas } from "./prepared-schemas.ts";
import { RegexCache } from "./regex-cache.ts";
import type { SchemaNode } from "./schema-node.ts";

/**
 * Checks and rewrites a schema; the same schema gives the same JSON text. `param` is the request field that holds it.
 * Throws SvcError `invalid_value`, naming the place in the schema, when the schema is invalid, refers to something
 * outside itself, is too large, cannot be satisfied, or needs more than is left of the request's `budget`. `earlier`:
 * where the result is looked up and kept. With `isLenient`, keywords that have the right form but cannot be used are not
 * enforced, and of a schema that cannot be satisfied none.
 */
export function prepareSchema(
  schema: unknown,
  param: string,
  budget = new SchemaBudget(),
  earlier?: PreparedSchemas,
  isLenient = false,
): PreparedSchema {
  const spend = budget.spending(() => {
    throw fault(param, "", "the schemas of the request are too much work together");
  });
  spend(checkSize(schema, param) / 8);
  const text = JSON.stringify(schema);
  const key = isLenient ? `lenient ${text}` : text;
  const known = earlier?.get(key);
  if (known) return known;

  const maker = new NodeMaker(spend);
  const parser = new SchemaParser(maker, param, isLenient);
  const node = parser.parse(schema, "");
  resolveReferences(parser, param);

  // Untyped schemas are first narrowed to the types that their keywords describe, unless that leaves no value.
  const root = living(node, maker, spend, param, true) ?? living(node, maker, spend, param, false);
  if (!root && !isLenient) throw fault(param, "", "no value can satisfy it");
  const { schema: written, lost } = root ? emit(root, tagOf(text), spend, param) : { schema: {}, lost: [""] };
  const prepared = { schema: written, inexpressible: [...parser.leftOut, ...lost] };
  earlier?.add(key, prepared);
  return prepared;
}

/** Returns the resolved schema, or undefined when no value can satisfy it. */
function living(node: SchemaNode, maker: NodeMaker, spend: Spend, param: string, infers: boolean): Part | undefined {
  const regexes = new RegexCache(spend);
  const literals = new LiteralChecker(regexes, MAX_STEPS, spend);
  const finder = new CaseFinder(maker, new Negator(maker), new Apart(literals, regexes, spend), regexes, infers, spend);
  const graph = new Graph(finder, literals, regexes, spend, param);
  const root = graph.build(node);
  markAlive(graph, spend);
  return root.alive ? root : undefined;
}

/** Returns a short name for a text. The converter tells definitions of a request's tools apart by name alone. */
const tagOf = (text: string): string => Bun.hash.xxHash64(text).toString(36);

/** Checks the size of a schema and that it has a JSON form. Returns the number of its values. Throws SvcError. */
function checkSize(schema: unknown, param: string): number {
  let [count, characters] = [0, 0];
  const open: { value: unknown; depth: number }[] = [{ value: schema, depth: 1 }];
  const checkText = (text: string) => {
    characters += text.length;
    if (characters > MAX_CHARACTERS) throw fault(param, "", `its strings have more than ${MAX_CHARACTERS} characters`);
    if (!text.isWellFormed()) throw fault(param, "", "it holds half a surrogate pair");
  };
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (++count > MAX_NODES) throw fault(param, "", `it has more than ${MAX_NODES} values`);
    if (typeof value === "string") checkText(value);
    if (typeof value === "number" && !Number.isFinite(value)) throw fault(param, "", "a number in it is out of range");
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_JSON_DEPTH) throw fault(param, "", `it is nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (!Array.isArray(value)) Object.keys(value).forEach(checkText);
    for (const item of Object.values(value)) open.push({ value: item, depth: depth + 1 });
  }
  return count;
}
