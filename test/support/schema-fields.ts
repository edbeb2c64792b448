// Names the fields of JSON values and of JSON schemas in the same way, so that their lists can be compared.

/** The parts of a JSON schema that name fields. */
export interface FieldSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly items?: FieldSchema;
  readonly anyOf?: readonly FieldSchema[];
}

/** Returns the paths of all fields in the schema, sorted; `*` stands for any array index. */
export function schemaFields(schema: FieldSchema): string[] {
  return [...new Set(named(schema))].sort();
}

/** Returns the paths of all fields that occur in at least one of the values. */
export function valueFields(values: readonly unknown[]): string[] {
  return [...new Set(values.flatMap((value) => given(value)))].sort();
}

function named({ properties = {}, items, anyOf = [] }: FieldSchema): string[] {
  return [...inside(properties, named), ...(items ? under("*", named(items)) : []), ...anyOf.flatMap(named)];
}

function given(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => under("*", given(item)));
  return typeof value === "object" && value !== null ? inside(value as Readonly<Record<string, unknown>>, given) : [];
}

const inside = <Value>(fields: Readonly<Record<string, Value>>, paths: (value: Value) => string[]): string[] =>
  Object.entries(fields).flatMap(([name, value]) => [name, ...under(name, paths(value))]);

const under = (name: string, paths: readonly string[]): string[] => paths.map((path) => `${name}.${path}`);
