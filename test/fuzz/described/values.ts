// Values that a schema allows: mostly small ones, sometimes those at its bounds.

import { pick, type Dice } from "../../support/dice.ts";
import { MARK } from "../seed-parts.ts";
import type { Schema } from "./operation.ts";
import type { Supply } from "./supply.ts";

const TEXTS = [MARK, "Hi", "a", "2", "名前 👋", `${MARK} `.repeat(20)] as const;
const FRACTIONS = [0, 0.5, 1, 0.1] as const;
const WHOLES = [0, 1, 2, 7] as const;
/** Longer texts come from mutations. */
const LONGEST_TEXT = 10_000;
/** Objects inside each other, beyond which only required fields are given. */
const DEEPEST = 6;

/** Returns a value of the schema for the field `name`. */
export function valueOf(schema: Schema, roll: Dice, supply: Supply, name = "", depth = 0): unknown {
  const { anyOf, items, examples = [] } = schema;
  if ("const" in schema) return schema.const;
  const given = supply.for(name, roll);
  const fits = anyOf ? anyOf.some((one) => one.const === given) : isOf(given, schema.type);
  if (roll(5) > 0 && given !== undefined && fits) return given;
  if (anyOf) return valueOf(chosen(anyOf, roll), roll, supply, name, depth);
  const known = [...(schema.enum ?? []), ...examples, ...("default" in schema ? [schema.default] : [])];
  if (known.length > 0 && (schema.enum || roll(2) === 0)) return known[roll(known.length)];
  switch (schema.type) {
    case "null":
      return null;
    case "boolean":
      return roll(2) === 0;
    case "integer":
      return bounded(schema, pick(roll, WHOLES), roll);
    case "number":
      return bounded(schema, pick(roll, FRACTIONS), roll);
    case "string":
      return text(schema, roll);
    case "array":
      return list(schema, items, roll, supply, name, depth);
    default:
      return fields(schema, roll, supply, depth);
  }
}

const isOf = (value: unknown, type?: string): boolean =>
  type === undefined || typeof value === (type === "integer" ? "number" : type);

/** Returns null seldom: it counts as absent. */
function chosen(schemas: readonly Schema[], roll: Dice): Schema {
  const others = schemas.filter(({ type }) => type !== "null");
  const from = others.length === 0 || roll(12) === 0 ? schemas : others;
  return from[roll(from.length)] ?? {};
}

function bounded({ minimum, exclusiveMinimum, maximum }: Schema, usual: number, roll: Dice): number {
  const least = minimum ?? exclusiveMinimum ?? -Infinity;
  const bound = roll(30) === 0 ? pick(roll, [maximum, least, (maximum ?? 0) + 1, least - 1]) : undefined;
  if (bound !== undefined && Number.isFinite(bound)) return bound;
  return Math.min(Math.max(usual, exclusiveMinimum === undefined ? least : least + 0.5), maximum ?? Infinity);
}

function text({ minLength = 0, maxLength = Infinity }: Schema, roll: Dice): string {
  if (maxLength <= LONGEST_TEXT && roll(100) === 0) return "x".repeat(maxLength + roll(2));
  return pick(roll, TEXTS).padEnd(minLength, "x").slice(0, maxLength);
}

function list(
  { minItems = 0, maxItems = Infinity }: Schema,
  items: Schema["items"] = {},
  roll: Dice,
  supply: Supply,
  name: string,
  depth: number,
): unknown[] {
  if (Array.isArray(items))
    return (items as readonly Schema[]).map((item) => valueOf(item, roll, supply, name, depth + 1));
  const length = Math.min(Math.max(pick(roll, [0, 1, 1, 2]), minItems), maxItems);
  return Array.from({ length }, () => valueOf(items as Schema, roll, supply, name, depth + 1));
}

function fields(schema: Schema, roll: Dice, supply: Supply, depth: number): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties).filter((name) => !required.includes(name));
  const most = depth > DEEPEST ? 0 : pick(roll, [0, 1, 1, 2, 4]);
  const optional = Array.from({ length: names.length === 0 ? 0 : most }, () => names[roll(names.length)] ?? "");
  const free = Object.values(schema.patternProperties ?? {})[0];
  return {
    ...Object.fromEntries(
      [...required, ...new Set(optional)].map((name) => [
        name,
        valueOf(properties[name] ?? {}, roll, supply, name, depth + 1),
      ]),
    ),
    ...(free && roll(2) === 0 && { [MARK]: valueOf(free, roll, supply, "", depth + 1) }),
  };
}
