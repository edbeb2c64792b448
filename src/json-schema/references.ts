// Follows `$ref`, `$dynamicRef` and `$recursiveRef` inside one schema.

import { isObject } from "../domain/json.ts";
import { fault, UnusableKeyword } from "./fault.ts";
import { MAX_IN_PLACE } from "./limits.ts";
import type { Naming, Resource, SchemaParser } from "./parse.ts";
import { inPlace, under, type SchemaNode } from "./schema-node.ts";

/** Characters of a resource's URL, which every reference and anchor in it repeats. */
const MAX_URL = 2_000;
/** Base URL of a schema without an `$id`. */
const NOWHERE = "schema:/";
const TO_NOTHING = "it refers to nothing";

/**
 * Sets the target of every node that refers to another. Throws SvcError when a reference leads out of the schema or to
 * nothing, unless the parser is lenient, or forms a cycle without going deeper into the value.
 */
export function resolveReferences(parser: SchemaParser, param: string): void {
  if (!parser.root) return;
  new Resolver(parser, parser.root, param).run();
  checkCircles(parser.root.node, parser, param);
}

class Resolver {
  private readonly resources = new Map<string, Resource>();
  private readonly anchors = new Map<string, SchemaNode>();
  /** How many subschemas have each dynamic anchor. */
  private readonly dynamic = new Map<string, number>();
  private readonly bases = new Map<SchemaNode, URL>();

  constructor(
    private readonly parser: SchemaParser,
    private readonly root: Resource,
    private readonly param: string,
  ) {}

  run(): void {
    this.resources.set(NOWHERE, this.root);
    const { namings } = this.parser;
    let registered = 0;
    // A target outside the known keywords is parsed only here, and may add names and references of its own.
    for (let index = 0; index < namings.length; index++) {
      while (registered < namings.length) this.register(namings[registered++] as Naming);
      this.resolve(namings[index] as Naming);
    }
  }

  private register({ node, raw, resource }: Naming): void {
    const base = this.base(resource);
    if (resource.node === node) this.resources.set(withoutHash(base), resource);
    const id = raw["$id"];
    for (const name of [
      raw["$anchor"],
      raw["$dynamicAnchor"],
      typeof id === "string" && /^#./.test(id) && id.slice(1),
    ]) {
      if (typeof name === "string") this.anchors.set(`${withoutHash(base)}#${name}`, node);
    }
    const name = raw["$dynamicAnchor"];
    if (typeof name === "string") this.dynamic.set(name, (this.dynamic.get(name) ?? 0) + 1);
  }

  private resolve({ node, raw, resource }: Naming): void {
    for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
      if (!Object.hasOwn(raw, keyword)) continue;
      const reference = raw[keyword];
      const at = under(node.at, keyword);
      if (typeof reference !== "string") throw fault(this.param, at, "it must be a string");
      if (node.target) throw fault(this.param, at, "only one reference can stand in a schema");
      // Which of several dynamic anchors applies depends on the path to this node; a single one is unambiguous.
      const name = keyword === "$dynamicRef" ? reference.slice(reference.indexOf("#") + 1) : "";
      const isUnsure = (this.dynamic.get(name) ?? 0) > 1;
      const target = isUnsure ? "several dynamic anchors have its name" : this.follow(reference, resource);
      if (typeof target !== "string") node.target = target;
      else {
        this.parser.leaveOut(new UnusableKeyword(this.param, node.at, keyword, target), node.at);
        node.unknown = true;
      }
    }
  }

  /** Returns the node that a reference leads to, or why there is none. */
  private follow(reference: string, resource: Resource): SchemaNode | string {
    const url = URL.parse(reference, this.base(resource).href);
    const home = url && this.resources.get(withoutHash(url));
    if (!url || !home) return "it refers to another document";
    const fragment = decode(url.hash.slice(1));
    if (fragment === undefined) return TO_NOTHING;
    return fragment === "" || fragment.startsWith("/")
      ? this.pointed(home, fragment)
      : (this.anchors.get(`${withoutHash(url)}#${fragment}`) ?? TO_NOTHING);
  }

  /** Returns the node at a JSON pointer below a resource, or why there is none. */
  private pointed(home: Resource, pointer: string): SchemaNode | string {
    let raw = home.raw;
    let place = home.node.at;
    for (const token of pointer.split("/").slice(1)) {
      const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
      const isIndex = !Array.isArray(raw) || /^(0|[1-9]\d*)$/.test(name);
      if (typeof raw !== "object" || raw === null || !isIndex || !Object.hasOwn(raw, name)) return TO_NOTHING;
      raw = (raw as Readonly<Record<string, unknown>>)[name];
      place = under(place, name);
    }
    if (!isObject(raw) && typeof raw !== "boolean") return "it refers to a value that is not a schema";
    return this.parser.parse(raw, place, home);
  }

  private base(resource: Resource): URL {
    const known = this.bases.get(resource.node);
    if (known) return known;
    const outer = resource.parent ? this.base(resource.parent) : new URL(NOWHERE);
    const base = (resource.id !== undefined && URL.parse(resource.id, outer.href)) || outer;
    if (base.href.length > MAX_URL) {
      throw fault(this.param, under(resource.node.at, "$id"), `its URL is longer than ${MAX_URL} characters`);
    }
    this.bases.set(resource.node, base);
    return base;
  }
}

const withoutHash = (url: URL): string => url.href.split("#")[0] ?? "";

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Throws SvcError when nodes apply to the same value through one another in a cycle or in a very long chain. */
function checkCircles(root: SchemaNode, parser: SchemaParser, param: string): void {
  /** Length of the longest chain from each node; 0 while it is being counted. */
  const heights = new Map<SchemaNode, number>();
  for (const start of [root, ...parser.namings.map(({ node }) => node)]) {
    const stack: { node: SchemaNode; rest: SchemaNode[] }[] = [{ node: start, rest: inPlace(start) }];
    if (heights.has(start)) continue;
    heights.set(start, 0);
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const next = top.rest.pop();
      const height = next && heights.get(next);
      if (height === 0) throw fault(param, top.node.at, "it refers to itself without going deeper into the value");
      if (next && height === undefined) {
        heights.set(next, 0);
        stack.push({ node: next, rest: inPlace(next) });
      }
      if (next) continue;
      const tallest = Math.max(0, ...inPlace(top.node).map((child) => heights.get(child) ?? 0));
      if (tallest >= MAX_IN_PLACE)
        throw fault(param, top.node.at, `more than ${MAX_IN_PLACE} schemas refer to one another`);
      heights.set(top.node, tallest + 1);
      stack.pop();
    }
  }
}
