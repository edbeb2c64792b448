// The fields of a form as the JSON body that they would be.

import { alternatives, type TSchema } from "../../contract/schema.ts";

/**
 * What the value of a field is; those that are not named are texts. `object`: one, or a list of them, in JSON, or fields
 * `name[key]`. `list`: of texts; it may come several times, also as `name[]`, in one text with commas, or in JSON.
 */
type Kind = "string" | "number" | "integer" | "boolean" | "object" | "list";
export type FormFields = Readonly<Record<string, Kind>>;

/** Of a form that has the fields of this schema. */
export const formFields = ({ properties }: TSchema): FormFields =>
  Object.fromEntries(Object.entries<TSchema>(properties).map(([name, schema]) => [name, kindOf(schema)]));

function kindOf(schema: TSchema): Kind {
  const kinds = alternatives(schema).map(({ type, items }) =>
    type === "array" ? (kindOf(items) === "string" ? "list" : "object") : type,
  );
  return kinds.find((kind) => kind !== "string") ?? "string";
}

/** A value that cannot be read as what it should be stays a text, for the check of the body to refuse. */
export function formBody(fields: Iterable<readonly [name: string, value: string]>, kinds: FormFields): object {
  const body = new Map<string, unknown>();
  for (const [name, value] of fields) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const [, owner = "", key] = /^(\w+)\[(\w+)\]$/.exec(name) ?? [];
    if (key !== undefined && Object.hasOwn(kinds, owner) && kinds[owner] === "object") {
      const known = body.get(owner);
      body.set(owner, { ...(typeof known === "object" && known), [key]: read("number", value) });
      continue;
    }
    const list = /^(.+)\[\]$/.exec(name)?.[1] ?? (kind === "list" ? name : undefined);
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
  return kind === "object" && /^[{[]/.test(value) ? objectIn(value) : value;
}

function itemsOf(value: string): readonly unknown[] {
  const list = value.startsWith("[") ? objectIn(value) : undefined;
  return Array.isArray(list) ? list : value.split(",").map((item) => item.trim());
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
