// Lists the fields of a JSON schema as rows of a table.

export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

const DEEPEST = 4;

/** Returns rows of name, type and meaning; fields of objects have dotted names. `known`: schemas listed elsewhere. */
export function fieldsOf(schema: Schema, known: ReadonlyMap<string, string>, prefix = "", depth = 0): string[][] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([name, given]) => {
    const field = withoutNull(given);
    const path = `${prefix}${name}`;
    const same = known.get(JSON.stringify(field));
    const meaning = [field.description ?? given.description, limits(field), same && `The body of \`${same}\`.`];
    const words = meaning.filter((word) => word !== undefined && word !== "").join(" ");
    const isRequired = required.has(name);
    const type = isRequired && field !== given ? `${typeName(field)}, null` : typeName(field);
    const row = [`\`${path}\`${isRequired ? " (required)" : ""}`, type, words];
    if (same !== undefined || depth >= DEEPEST) return [row];
    return [
      row,
      ...objectsIn(field).flatMap(({ of, isItem }) => fieldsOf(of, known, `${path}${isItem ? "[]" : ""}.`, depth + 1)),
    ];
  });
}

export const isObject = (schema: Schema | undefined): boolean =>
  schema !== undefined && objectsIn(schema).some(({ isItem }) => !isItem);

/** Returns the objects that a value may be, or hold as items. */
function objectsIn(schema: Schema, isItem = false): { readonly of: Schema; readonly isItem: boolean }[] {
  if (schema.properties) return [{ of: schema, isItem }];
  if (schema.anyOf) return schema.anyOf.flatMap((one) => objectsIn(one, isItem));
  return schema.type === "array" && schema.items ? objectsIn(schema.items, true) : [];
}

/** Removes null from a schema: for optional fields it counts as absent, so tables need not say so. */
function withoutNull(schema: Schema): Schema {
  const others = schema.anyOf?.filter(({ type }) => type !== "null");
  return others?.length === 1 && schema.anyOf?.length === 2 ? withoutNull(others[0] as Schema) : schema;
}

function typeName(schema: Schema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((one) => `\`${JSON.stringify(one)}\``).join(", ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => typeName(withoutNull(one))))].join(", ");
  if (schema.type === "array") return schema.items ? `array of ${typeName(withoutNull(schema.items))}` : "array";
  if (schema.format === "binary") return "file";
  return schema.type ?? "any";
}

function limits({ minimum, maximum, minItems, maxItems, maxLength, default: fallback }: Schema): string {
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least === undefined && most === undefined) return undefined;
    if (most === undefined) return least === 0 && unit !== "" ? undefined : `At least ${least}${unit}.`;
    return least === undefined ? `At most ${most}${unit}.` : `${least} to ${most}${unit}.`;
  };
  const words = [
    range(minimum, maximum, ""),
    range(minItems, maxItems, " items"),
    maxLength === undefined ? undefined : `At most ${maxLength} characters.`,
    fallback === undefined ? undefined : `Default: \`${JSON.stringify(fallback)}\`.`,
  ];
  return words.filter((word) => word !== undefined).join(" ");
}
