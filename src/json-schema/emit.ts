// Turns the graph of a schema into a schema for the converter.

import type { JsonObject } from "../domain/json.ts";
import { once } from "../domain/once.ts";
import { checkAlternatives } from "./alternatives.ts";
import type { ArrayForm } from "./array-plan.ts";
import { TEXT_A_STEP, type Spend } from "./budget.ts";
import { fault } from "./fault.ts";
import { notesOf, type Notes, type Part, type Unit, type Use } from "./graph.ts";
import { valueKey, valuesSchema } from "./json-value.ts";
import { EVERY_KIND, KIND, NUMBER } from "./kinds.ts";
import { MAX_EXPANSION_DEPTH, MAX_LOST, MAX_PATH_NAMES, MAX_SAME_NAMES } from "./limits.ts";
import type { ObjectForm } from "./object-plan.ts";
import { isLarge, Plans } from "./plans.ts";
import { under } from "./schema-node.ts";
import { StringPool } from "./string-pool.ts";

interface Emitted {
  readonly schema: JsonObject;
  /** Paths in the client's schema of keywords that are not enforced; of very many, the first. */
  readonly lost: readonly string[];
}

/**
 * Emits a part that has values. `tag` makes the definitions' names unique to this schema. Throws SvcError when a limit
 * of the converter is exceeded.
 */
export function emit(root: Part, tag: string, spend: Spend, param: string): Emitted {
  const plans = new Plans(spend);
  return new Emitter(tag, param, plans, plans.shared(root), spend).root(root);
}

class Emitter {
  private readonly lost = new Set<string>();
  private readonly names = new Map<Unit, string>();
  private readonly bodies = new Map<string, JsonObject>();
  private readonly strings: StringPool;
  /** Most alternatives of each pattern that are open at once. */
  private readonly patterns = new Map<unknown, number>();
  private readonly ruleNames = new Map<string, number>();
  /** Returns the length of a part of the client's schema as JSON text. */
  private readonly lengthOf = once((part: object) => JSON.stringify(part).length);
  private depth = 0;

  /** `shared`: units that become definitions. */
  constructor(
    private readonly tag: string,
    private readonly param: string,
    private readonly plans: Plans,
    private readonly shared: ReadonlySet<Unit>,
    private readonly spend: Spend,
  ) {
    this.strings = new StringPool(spend);
  }

  root(part: Part): Emitted {
    const schema = this.part({ part, notes: notesOf(part.nodes) }, "", true);
    this.strings.share((body) => {
      const name = this.nextName();
      this.bodies.set(name, body);
      return name;
    });
    const named = hasAwkwardNames(schema) ? { anyOf: [schema] } : schema;
    const definitions = this.bodies.size > 0 && { $defs: Object.fromEntries(this.bodies) };
    const whole = { ...named, ...definitions };
    checkAlternatives(whole, this.patterns, this.param);
    return { schema: whole, lost: [...this.lost] };
  }

  /** `path`: the name that the converter gives the rules for this part. */
  private part({ part, notes }: Use, path: string, isRoot = false): JsonObject {
    const options: JsonObject[] = [];
    let anything = false;
    for (const { unit, lost } of part.cases) {
      this.spend(1 / 8);
      if (unit.alive === 0) continue;
      this.lose(lost);
      anything ||= isAny(unit);
      const own = this.unit(unit, options.length > 0 ? `${path}-${options.length}` : path, isRoot);
      options.push(...own);
      if (own.length === 1 && own[0] && !("$ref" in own[0])) this.annotate(own[0], unit.nodes, notes);
    }
    this.copy(notes);
    if (anything) return { ...notes };
    const distinct = options.length > 1 ? this.distinct(options) : options;
    return Object.assign(distinct.length === 1 ? (distinct[0] ?? {}) : { anyOf: distinct }, notes);
  }

  private distinct(options: readonly JsonObject[]): JsonObject[] {
    const byText = options.map((one): [string, JsonObject] => {
      const text = JSON.stringify(one);
      this.spend(text.length / TEXT_A_STEP);
      return [text, one];
    });
    return [...new Map(byText).values()];
  }

  private unit(unit: Unit, path: string, isRoot: boolean): JsonObject[] {
    if (isAny(unit)) return [{}];
    const isDefined = this.shared.has(unit) || (path.length > MAX_PATH_NAMES && isLarge(unit));
    if (isRoot || !isDefined) return this.body(unit, path);
    return [{ $ref: `#/$defs/${this.names.get(unit) ?? this.define(unit)}` }];
  }

  private define(unit: Unit): string {
    const name = this.nextName();
    this.names.set(unit, name);
    // Reserves the name first: the body may add definitions of its own.
    this.bodies.set(name, {});
    const options = this.body(unit, name);
    this.bodies.set(name, this.annotate(options.length === 1 ? { ...options[0] } : { anyOf: options }, unit.nodes, {}));
    return name;
  }

  private nextName(): string {
    return `r${this.bodies.size + 1}-${this.tag}`;
  }

  private body(unit: Unit, path: string): JsonObject[] {
    const { nodes, alive, values } = unit;
    if (++this.depth > MAX_EXPANSION_DEPTH) {
      throw fault(this.param, "", `more than ${MAX_EXPANSION_DEPTH} arrays and objects are inside one another`);
    }
    this.lose(unit.lost);
    const options: JsonObject[] = [];
    if (values) options.push(valuesSchema(this.copy(values)));
    else {
      options.push(...this.objects(unit, path), ...this.arrays(unit, path));
      if (alive & KIND.string) options.push(this.string(unit));
      if (alive & NUMBER) options.push(this.number(unit));
      if (alive & KIND.boolean) options.push(boolean(nodes));
      if (alive & KIND.null) options.push({ type: "null" });
    }
    this.depth--;
    return options;
  }

  private objects(unit: Unit, path: string): JsonObject[] {
    const { forms, lost } = this.plans.object(unit);
    this.lose(lost);
    return forms.map((form, index) => this.object(form, forms.length > 1 ? `${path}-${index}` : path));
  }

  private object(form: ObjectForm, path: string): JsonObject {
    if (form.kind === "map") {
      const value = form.value && this.part(form.value, `${path}-additional-value`);
      const isAnything = !value || Object.keys(value).length === 0;
      return { type: "object", ...(!isAnything && { additionalProperties: value }) };
    }
    this.spend(form.members.reduce((sum, { name }) => sum + 1 / 8 + name.length / TEXT_A_STEP, 0));
    const properties = form.members.map(({ name, use }) => [name, this.part(use, this.rulePath(path, name))] as const);
    const required = form.members.filter((member) => member.required).map(({ name }) => name);
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    };
  }

  /**
   * Returns the rule name for a property. The converter numbers rules with equal names and tries all numbers for each.
   * Throws SvcError when too many are equal.
   */
  private rulePath(path: string, name: string): string {
    const inside = `${path}-${name.replace(/[^a-zA-Z0-9-]+/g, "-")}`;
    const uses = (this.ruleNames.get(inside) ?? 0) + 1;
    this.ruleNames.set(inside, uses);
    if (uses <= MAX_SAME_NAMES) return inside;
    throw fault(
      this.param,
      "",
      `more than ${MAX_SAME_NAMES} properties have names that are alike in ASCII letters and digits`,
    );
  }

  private arrays(unit: Unit, path: string): JsonObject[] {
    const { forms, lost } = this.plans.array(unit);
    this.lose(lost);
    return forms.map((form, index) => this.array(form, unit.nodes, forms.length > 1 ? `${path}-${index}` : path));
  }

  private array(form: ArrayForm, nodes: Unit["nodes"], path: string): JsonObject {
    if (form.kind === "tuple") {
      return { type: "array", prefixItems: form.items.map((item, index) => this.part(item, `${path}-tuple-${index}`)) };
    }
    const { item, min, max } = form;
    const items = item && max > 0 ? this.part(item, `${path}-item`) : {};
    const isCounted = this.strings.spend(max === Infinity ? min : max);
    if (!isCounted) {
      this.lose(nodes.filter((node) => node.array).flatMap(({ at }) => [under(at, "minItems"), under(at, "maxItems")]));
    }
    return {
      type: "array",
      ...(Object.keys(items).length > 0 && { items }),
      ...(isCounted && min > 0 && { minItems: min }),
      ...((isCounted || max === 0) && max < Infinity && { maxItems: max }),
    };
  }

  private string(unit: Unit): JsonObject {
    const { schema, lost, open, repetitions } = this.plans.string(unit);
    this.lose(lost);
    this.patterns.set(schema["pattern"], open);
    const written = this.strings.write(schema, repetitions);
    if (written) return written;
    const keywords = unit.nodes.flatMap(({ at, string }) => Object.keys(string ?? {}).map((name) => under(at, name)));
    this.lose(keywords);
    return { type: "string" };
  }

  private number(unit: Unit): JsonObject {
    const { schema, lost } = this.plans.number(unit);
    this.lose(lost);
    return { ...this.copy(schema) };
  }

  /** Adds the notes of nodes, except those already given at the place of use. */
  private annotate(schema: JsonObject, nodes: Unit["nodes"], used: Notes): JsonObject {
    this.spend(nodes.length / 8);
    for (const { notes } of nodes) {
      if (!notes) continue;
      for (const [key, note] of Object.entries(this.copy(notes))) {
        if (!(key in schema) && used[key] !== note) schema[key] = note;
      }
    }
    return schema;
  }

  /** Counts the text of a part of the client's schema, which may be written out many times. */
  private copy<T extends object>(part: T): T {
    this.spend(this.lengthOf(part) / TEXT_A_STEP);
    return part;
  }

  private lose(paths: readonly string[]): void {
    this.spend(paths.length / 8);
    for (const path of paths) if (this.lost.size < MAX_LOST) this.lost.add(path);
  }
}

const isAny = ({ nodes, kinds }: Unit): boolean => nodes.length === 0 && kinds === EVERY_KIND;

function boolean(nodes: Unit["nodes"]): JsonObject {
  const left = [true, false].filter((value) => !nodes.some(({ excluded }) => excluded?.byKey.has(valueKey(value))));
  return left.length === 1 ? valuesSchema(left) : { type: "boolean" };
}

/**
 * The converter names rules after properties. At the top level of a schema, these names clash with the converter's own
 * rules; one level down they do not.
 */
const hasAwkwardNames = ({ properties }: JsonObject): boolean =>
  Object.keys(properties ?? {}).some((name) => name === "" || /^(integral|decimal)[^a-zA-Z0-9]+part$/.test(name));
