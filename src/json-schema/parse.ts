// Parses a client's schema into nodes and checks every keyword. References are only collected: see references.ts.

import { defined } from "../domain/defined.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { fault, UnusableKeyword } from "./fault.ts";
import { KeywordReader, typeName } from "./keyword-reader.ts";
import { MAX_DEPTH, MAX_LOST } from "./limits.ts";
import type { NodeMaker } from "./node-maker.ts";
import {
  under,
  type ArrayFacts,
  type Dependency,
  type ObjectFacts,
  type SchemaFields,
  type SchemaNode,
} from "./schema-node.ts";

/** A subschema that defines a name or refers to one. */
export interface Naming {
  readonly node: SchemaNode;
  readonly raw: JsonObject;
  /** The resource that this subschema's references are relative to. */
  readonly resource: Resource;
}

/** A schema with an `$id`, or the whole schema. */
export interface Resource {
  readonly node: SchemaNode;
  readonly raw: unknown;
  readonly parent?: Resource;
  readonly id?: string;
}

export class SchemaParser {
  /** Subschemas with `$id`, `$anchor`, `$ref` and the like, in the order of parsing. */
  readonly namings: Naming[] = [];
  /** The whole schema. */
  root: Resource | undefined;
  /** Paths of the keywords that were left out. */
  readonly leftOut: string[] = [];
  private readonly known = new Map<object, SchemaNode>();

  /** `isLenient`: keywords that cannot be used are left out; otherwise they are errors. */
  constructor(
    private readonly nodes: NodeMaker,
    private readonly param: string,
    private readonly isLenient: boolean,
  ) {}

  /** Returns the node of a raw subschema, the same one each time. Throws SvcError when it is not a schema. */
  parse(raw: unknown, at: string, resource?: Resource, depth = 1): SchemaNode {
    if (raw === true) return this.nodes.make(at, {});
    if (raw === false) return this.nodes.make(at, { never: true });
    if (!isObject(raw)) throw fault(this.param, at, `a schema must be an object or a boolean, got ${typeName(raw)}`);
    const known = this.known.get(raw);
    if (known) return known;
    if (depth > MAX_DEPTH) throw fault(this.param, at, `more than ${MAX_DEPTH} schemas are inside one another`);
    // The node must exist before its parts: they point to it as their resource, and a reference may lead back to it.
    const node = this.nodes.make(at, {});
    this.known.set(raw, node);
    const own: Resource = !resource
      ? { node, raw, ...(typeof raw["$id"] === "string" && { id: raw["$id"] }) }
      : typeof raw["$id"] === "string" && !raw["$id"].startsWith("#")
        ? { node, raw, parent: resource, id: raw["$id"] }
        : resource;
    this.root ??= own;
    if (NAMING.some((keyword) => Object.hasOwn(raw, keyword))) this.namings.push({ node, raw, resource: own });
    return Object.assign(node, this.read(raw, at, own, depth));
  }

  /** Returns what a subschema requires. */
  private read(raw: JsonObject, at: string, resource: Resource, depth: number): SchemaFields {
    try {
      return new Subschema(this, new KeywordReader(raw, at, this.param), raw, at, resource, depth).read();
    } catch (error) {
      const others: JsonObject = { ...raw };
      const keyword = this.leaveOut(error, at);
      delete others[keyword];
      // Without the patterns, it would exclude the names that they allow.
      if (keyword === "patternProperties") delete others["additionalProperties"];
      return { ...this.read(others, at, resource, depth), unknown: true };
    }
  }

  /** Leaves out the keyword that an error of the subschema at `at` is about, and returns it; or throws the error. */
  leaveOut(error: unknown, at: string): string {
    if (!this.isLenient || !(error instanceof UnusableKeyword)) throw error;
    const path = under(at, error.keyword);
    this.nodes.spend(4 + path.length / 64);
    if (this.leftOut.length < MAX_LOST) this.leftOut.push(path);
    return error.keyword;
  }
}

const NAMING = ["$id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$recursiveRef"];

/** Groups of keywords that are read together; most subschemas use few of the groups. */
const KEYWORD_GROUPS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    plain: "type enum const nullable title description default",
    number: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
    string: "minLength maxLength pattern format",
    array: "items prefixItems additionalItems minItems maxItems uniqueItems contains minContains maxContains",
    object: "properties patternProperties additionalProperties propertyNames required minProperties maxProperties",
    applied:
      "$defs definitions allOf anyOf oneOf not if then else dependentRequired dependentSchemas dependencies " +
      "unevaluatedItems unevaluatedProperties",
  }).flatMap(([group, keywords]) => keywords.split(" ").map((keyword): [string, string] => [keyword, group])),
);

/** One schema object while it is being read. */
class Subschema {
  constructor(
    private readonly parser: SchemaParser,
    private readonly keywords: KeywordReader,
    private readonly raw: JsonObject,
    private readonly at: string,
    private readonly resource: Resource,
    private readonly depth: number,
  ) {}

  read(): SchemaFields {
    const { keywords, raw } = this;
    const groups = new Set(Object.keys(raw).map((keyword) => KEYWORD_GROUPS.get(keyword)));
    const fields: SchemaFields[] = [];
    if (groups.has("plain")) fields.push(keywords.kindsAndValues(), keywords.notes());
    if (groups.has("number")) fields.push(defined({ number: keywords.numberFacts() }));
    if (groups.has("string")) fields.push(defined({ string: keywords.stringFacts() }));
    if (groups.has("array")) fields.push(defined({ array: this.array() }));
    if (groups.has("object")) fields.push(defined({ object: this.object() }));
    if (groups.has("applied")) fields.push(this.applied());
    return Object.assign({}, ...fields) as SchemaFields;
  }

  private applied(): SchemaFields {
    // Read only to check their types and to have targets for references.
    this.map("$defs");
    this.map("definitions");
    return defined({
      allOf: this.schemas("allOf"),
      anyOf: this.schemas("anyOf"),
      oneOf: this.schemas("oneOf"),
      not: this.schema("not"),
      condition: this.condition(),
      dependencies: this.dependencies(),
      unevaluatedItems: this.schema("unevaluatedItems"),
      unevaluatedProperties: this.schema("unevaluatedProperties"),
    });
  }

  private array(): ArrayFacts | undefined {
    const { keywords } = this;
    // Up to draft 2019-09, a list of `items` was the prefix, and `additionalItems` described what follows it.
    const older = Array.isArray(this.raw["items"]);
    const prefix = older ? this.schemas("items", true) : this.schemas("prefixItems", true);
    const items = older ? this.schema("additionalItems") : this.schema("items");
    const [minItems, maxItems] = keywords.range("minItems", "maxItems");
    const [minContains, maxContains] = keywords.range("minContains", "maxContains");
    const uniqueItems = keywords.flag("uniqueItems") || undefined;
    const contains = this.schema("contains");
    return group<ArrayFacts>({
      prefix,
      items,
      minItems,
      maxItems,
      uniqueItems,
      contains,
      ...(contains && { minContains, maxContains }),
    });
  }

  private object(): ObjectFacts | undefined {
    const { keywords } = this;
    const properties = this.map("properties");
    for (const name of properties?.keys() ?? []) keywords.checkName("properties", name);
    const patternMap = this.map("patternProperties");
    for (const source of patternMap?.keys() ?? []) keywords.checkRegex("patternProperties", source);
    const [minProperties, maxProperties] = keywords.range("minProperties", "maxProperties");
    return group<ObjectFacts>({
      properties,
      patterns: patternMap?.size ? [...patternMap] : undefined,
      additional: this.schema("additionalProperties"),
      names: this.schema("propertyNames"),
      required: keywords.names("required"),
      minProperties,
      maxProperties,
    });
  }

  private condition(): SchemaFields["condition"] {
    const [test, whenTrue, whenFalse] = [this.schema("if"), this.schema("then"), this.schema("else")];
    return test && (whenTrue || whenFalse) ? { if: test, ...defined({ whenTrue, whenFalse }) } : undefined;
  }

  private dependencies(): readonly Dependency[] | undefined {
    const found: Dependency[] = [];
    for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
      for (const [property, value] of Object.entries(this.keywords.map(keyword) ?? {})) {
        this.keywords.checkName(keyword, property);
        if (keyword !== "dependentSchemas" && Array.isArray(value)) {
          found.push({ property, required: this.keywords.names(keyword, value) ?? [] });
        } else if (keyword === "dependentRequired") {
          this.keywords.fail(keyword, `it must hold arrays, got ${typeName(value)}`);
        } else {
          found.push({ property, required: [], node: this.child(value, keyword, property) });
        }
      }
    }
    return found.length > 0 ? found : undefined;
  }

  private schema(keyword: string): SchemaNode | undefined {
    return this.keywords.has(keyword) ? this.child(this.raw[keyword], keyword) : undefined;
  }

  private schemas(keyword: string, mayBeEmpty = false): SchemaNode[] | undefined {
    const list = this.keywords.list(keyword);
    if (list?.length === 0 && !mayBeEmpty) this.keywords.fail(keyword, "it must not be empty");
    return list?.map((item, index) => this.child(item, keyword, index));
  }

  private map(keyword: string): Map<string, SchemaNode> | undefined {
    const map = this.keywords.map(keyword);
    return map && new Map(Object.entries(map).map(([name, raw]) => [name, this.child(raw, keyword, name)]));
  }

  private child(raw: unknown, keyword: string, name?: string | number): SchemaNode {
    const inside = under(this.at, keyword);
    return this.parser.parse(raw, name === undefined ? inside : under(inside, name), this.resource, this.depth + 1);
  }
}

/** Returns the fields that are defined, or undefined when none is. */
function group<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): Partial<T> | undefined {
  const facts = defined(fields);
  return Object.keys(facts).length > 0 ? (facts as Partial<T>) : undefined;
}
