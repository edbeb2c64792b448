// The form of JSON answers: the types at each place in them.

/** Types by place, such as `data[].index`. */
export type Form = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the form of an answer, or of all events of one together. */
export function formOf(values: readonly unknown[]): Form {
  const types = new Map<string, Set<string>>();
  for (const value of values) note(value, "", types);
  return types;
}

function note(value: unknown, path: string, types: Map<string, Set<string>>): void {
  const found = types.get(path) ?? new Set();
  types.set(path, found.add(value === null ? "null" : Array.isArray(value) ? "array" : typeof value));
  if (Array.isArray(value)) for (const item of value) note(item, `${path}[]`, types);
  else if (typeof value === "object" && value !== null)
    for (const [name, field] of Object.entries(value)) note(field, path === "" ? name : `${path}.${name}`, types);
}

/** Returns places of llama-server's answer that are missing in svc's or have another type; svc may have more. */
export function lacking(ours: Form, theirs: Form): { readonly path: string; readonly text: string }[] {
  return [...theirs].flatMap(([path, types]) => {
    const own = ours.get(path);
    const parent = path.replace(/(\.[^.[]+|\[\])$/, "");
    if (!own) return parent === path || ours.has(parent) ? [{ path, text: `no \`${path}\`` }] : [];
    if (types.has("null") || [...own].some((type) => types.has(type))) return [];
    return [{ path, text: `\`${path}\` is ${[...own]}, llama-server's ${[...types]}` }];
  });
}
