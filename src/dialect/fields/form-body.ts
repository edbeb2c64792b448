// Turns the fields of a form into the equivalent JSON body.

import { alternatives, type TSchema } from "../../contract/schema.ts";
import { jsonOf } from "../../domain/json.ts";
import { own } from "../../domain/own.ts";

/**
 * Type of a field's value; unknown fields are strings. `object`: an object, or a list of objects, in JSON, or fields
 * `name[key]`. `list`: strings, as repeated fields, also named `name[]` or `name[0]`, as one comma-separated string, or in JSON.
 */
type Kind = "string" | "number" | "integer" | "boolean" | "object" | "list";
export type FormFields = Readonly<Record<string, Kind>>;

/** Returns the types of the fields in a schema. */
export const formFields = ({ properties }: TSchema): FormFields =>
  Object.fromEntries(Object.entries<TSchema>(properties).map(([name, schema]) => [name, kindOf(schema)]));

function kindOf(schema: TSchema): Kind {
  const kinds = alternatives(schema).map(({ type, items }) =>
    type === "array" ? (kindOf(items) === "string" ? "list" : "object") : type,
  );
  return kinds.find((kind) => kind !== "string") ?? "string";
}

/** Returns the body. A value that cannot have its field's type stays a string, which the check then refuses. */
export function formBody(fields: Iterable<readonly [name: string, value: string]>, kinds: FormFields): object {
  const body = new Map<string, unknown>();
  for (const [name, value] of fields) {
    const kind = own(kinds, name);
    const [, owner = "", key] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
    if (key !== undefined && Object.hasOwn(kinds, owner) && kinds[owner] === "object") {
      const known = body.get(owner);
      body.set(owner, { ...(typeof known === "object" && known), [key]: read("number", value) });
      continue;
    }
    const list = /^(.+)\[\d*\]$/.exec(name)?.[1] ?? (kind === "list" ? name : undefined);
    if (list === undefined) body.set(name, read(kind, value));
    else {
      const values = body.get(list);
      const more = kinds[list] === "list" ? itemsOf(value) : [value];
      body.set(list, [...(Array.isArray(values) ? values : []), ...more]);
    }
  }
  return Object.fromEntries(body);
}

function read(kind: Kind | undefined, value: string): unknown {
  if (kind === "number" || kind === "integer")
    return value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;
  if (kind === "boolean") return BOOLEANS.get(value.toLowerCase()) ?? value;
  return kind === "object" && /^[{[]/.test(value) ? (jsonOf(value) ?? value) : value;
}

function itemsOf(value: string): readonly unknown[] {
  const list = value.startsWith("[") ? jsonOf(value) : undefined;
  return Array.isArray(list) ? list : value.split(",").map((item) => item.trim());
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);
